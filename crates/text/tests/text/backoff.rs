//! The delays of a `Backoff`.

use std::num::NonZeroU32;
use std::time::Duration;

use cogwork_text::Backoff;
use proptest::prelude::*;

fn millis(backoff: Backoff) -> Vec<u128> {
    backoff.delays().map(|delay| delay.as_millis()).collect()
}

#[test]
fn delays_grow_by_their_factor_up_to_the_ceiling() {
    let short = Backoff::of::<4>().with_first(Duration::from_millis(10));
    let infinite = Backoff::of::<4>().with_factor(f32::INFINITY);
    for (backoff, expected) in [
        (Backoff::default(), &[500, 1000][..]),
        (
            Backoff::of::<10>(),
            &[500, 1000, 2000, 4000, 8000, 16000, 30000, 30000, 30000],
        ),
        (Backoff::of::<1>(), &[]),
        (short.with_factor(1.0), &[10, 10, 10]),
        (infinite, &[500, 30_000, 30_000]),
        (infinite.with_first(Duration::ZERO), &[0, 0, 0]),
    ] {
        assert_eq!(millis(backoff.with_jitter(false)), expected);
        assert_eq!(backoff.delays().count(), expected.len());
    }
}

#[test]
fn a_senseless_factor_counts_as_one() {
    for factor in [f32::NAN, -3.0, 0.0, 0.5, f32::NEG_INFINITY] {
        let one = Backoff::of::<4>().with_factor(1.0);
        assert_eq!(one.with_factor(factor), one, "{factor}");
    }
}

#[test]
fn jitter_spreads_over_the_upper_half_even_at_the_ceiling() {
    let backoff = Backoff::of::<1001>()
        .with_first(Duration::from_secs(8))
        .with_ceiling(Duration::from_secs(8));
    let delays = millis(backoff);
    let least = delays.iter().min().unwrap();
    let most = delays.iter().max().unwrap();
    assert!((4000..4500).contains(least), "{least}");
    assert!((7500..=8000).contains(most), "{most}");
}

#[test]
fn jitter_draws_anew_on_every_call() {
    let backoff = Backoff::of::<20>();
    assert_ne!(millis(backoff), millis(backoff));
}

prop_compose! {
    fn durations()(choice in prop_oneof![
        any::<Duration>(),
        Just(Duration::ZERO),
        Just(Duration::MAX),
        Just(Duration::from_nanos(1)),
    ]) -> Duration { choice }
}

proptest! {
    #[test]
    fn any_setting_gives_attempts_less_one_delays_under_the_ceiling(
        attempts in 1..200_u32,
        first in durations(),
        factor in any::<f32>(),
        ceiling in durations(),
        jitter in any::<bool>(),
    ) {
        let backoff = Backoff::attempts(NonZeroU32::new(attempts).unwrap())
            .with_first(first)
            .with_factor(factor)
            .with_ceiling(ceiling)
            .with_jitter(jitter);
        let delays: Vec<Duration> = backoff.delays().collect();
        prop_assert_eq!(delays.len(), attempts as usize - 1);
        prop_assert!(delays.iter().all(|delay| *delay <= ceiling));
        prop_assert_eq!(backoff, backoff);
        if !jitter {
            let grows = |pair: &[Duration]| pair[1].as_secs_f64() >= pair[0].as_secs_f64() * (1.0 - 1e-6);
            prop_assert!(delays.windows(2).all(grows));
        }
    }

    #[test]
    fn the_most_attempts_there_can_be_are_still_counted_lazily(factor in any::<f32>()) {
        let backoff = Backoff::attempts(NonZeroU32::MAX).with_first(Duration::MAX).with_ceiling(Duration::MAX).with_factor(factor);
        prop_assert_eq!(backoff.delays().take(50).count(), 50);
    }
}
