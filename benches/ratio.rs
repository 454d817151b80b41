use std::hint::black_box;
use std::time::{Duration, Instant};

/// Quotients behind a ratio.
const ROUNDS: u32 = 15;

/// Measurements of each side behind a quotient; the shortest counts, as nothing makes work shorter.
const TRIES: usize = 3;

/// Prints how many times as long as `base` the other one takes, both given as the time for the same amount of work: the
/// median and the quartiles over rounds that measure the two in turn. Also prints the shortest time of the other one.
pub fn ratio(what: &str, mut other: impl FnMut() -> Duration, mut base: impl FnMut() -> Duration) {
    let mut shortest = Duration::MAX;
    let mut quotient = || {
        let pairs = (0..TRIES).map(|_| (other(), base()));
        let least = |(o, b): (Duration, Duration), (other, base)| (o.min(other), b.min(base));
        let (other, base) = pairs.fold((Duration::MAX, Duration::MAX), least);

        shortest = shortest.min(other);
        other.as_secs_f64() / base.as_secs_f64()
    };

    let quotients = (0..rounds(ROUNDS)).map(|_| quotient()).collect();
    let [low, median, high] = quartiles(quotients);
    let found = format!("{median:.2} ({low:.2} to {high:.2}; {shortest:.1?})");
    print(what, found);
}

/// Returns how often something is repeated: once if the benches are only tried out, with `--test`.
pub fn rounds(usual: u32) -> u32 {
    let is_trial = std::env::args().any(|argument| argument == "--test");
    if is_trial { 1 } else { usual }
}

/// Returns the lower quartile, the median and the upper quartile.
pub fn quartiles(mut values: Vec<f64>) -> [f64; 3] {
    values.sort_by(f64::total_cmp);
    [1, 2, 3].map(|number| {
        let index = values.len().saturating_sub(1) * number / 4;
        values.get(index).copied().unwrap_or(f64::NAN)
    })
}

/// Prints a finding.
pub fn print(what: &str, found: impl std::fmt::Display) {
    println!("{what:<60} {found}");
}

/// Returns how long a piece of work takes, without what it takes to drop what it returns.
pub fn timed<R>(work: impl FnOnce() -> R) -> Duration {
    let started = Instant::now();
    let given = black_box(work());
    let time = started.elapsed();
    drop(given);

    time
}

/// Returns how long a piece of work takes on average over so many times.
pub fn each<R>(times: u32, mut work: impl FnMut() -> R) -> Duration {
    let started = Instant::now();
    (0..times).for_each(|_| drop(black_box(work())));
    started.elapsed() / times.max(1)
}
