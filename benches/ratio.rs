use std::hint::black_box;
use std::time::{Duration, Instant};

/// Quotients behind a ratio.
const ROUNDS: usize = 15;

/// Measurements of each side behind a quotient; the shortest counts, as nothing makes work shorter.
const TRIES: usize = 3;

/// Prints how many times as long as `base` the other one takes, both given as the time for the same
/// amount of work: the median and the quartiles over rounds that measure the two in turn. On a busy
/// machine both should run equally long, or the longer loses more of its time to others.
pub fn ratio(what: &str, mut other: impl FnMut() -> Duration, mut base: impl FnMut() -> Duration) {
    // Once is enough when the benches are only tried out.
    let trial = std::env::args().any(|argument| argument == "--test");
    let (rounds, tries) = if trial { (1, 1) } else { (ROUNDS, TRIES) };
    let mut quotient = || {
        let pairs = (0..tries).map(|_| (other(), base()));
        let least = |(o, b): (Duration, Duration), (other, base)| (o.min(other), b.min(base));
        let (other, base) = pairs.fold((Duration::MAX, Duration::MAX), least);

        other.as_secs_f64() / base.as_secs_f64()
    };

    let mut quotients: Vec<f64> = (0..rounds).map(|_| quotient()).collect();
    quotients.sort_by(f64::total_cmp);
    let quartile = |number: usize| {
        quotients
            .get((quotients.len() - 1) * number / 4)
            .copied()
            .unwrap_or(f64::NAN)
    };

    print(
        what,
        format_args!(
            "{:.2} ({:.2} to {:.2})",
            quartile(2),
            quartile(1),
            quartile(3)
        ),
    );
}

/// Prints a finding that is not a time.
pub fn print(what: &str, found: impl std::fmt::Display) {
    println!("{what:<66} {found}");
}

/// How long a piece of work takes, without what it takes to drop what it gives.
pub fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let started = Instant::now();
    let given = black_box(work());
    let time = started.elapsed();
    drop(given);

    time
}

/// How long a piece of work takes on average over so many times.
pub fn each<R>(times: u32, mut work: impl FnMut() -> R) -> Duration {
    let started = Instant::now();
    (0..times).for_each(|_| drop(black_box(work())));
    started.elapsed() / times.max(1)
}
