//! Statistics, compared with the values of SciPy, and with what they say over simulated suites.

use cogwork_eval::stats::{bootstrap, mcnemar, pass_at, wilson};
use proptest::prelude::*;

fn assert_close(one: f64, other: f64) {
    assert!((one - other).abs() < 1e-6, "{one} and {other}");
}

/// `scipy.stats.binomtest(k, n).proportion_ci(method="wilson")`
#[test]
fn intervals_are_those_of_scipy() {
    let cases = [
        (8.0, 10.0, [0.490_162_471, 0.943_317_848]),
        (0.0, 20.0, [0.0, 0.161_125_155]),
        (20.0, 20.0, [0.838_874_845, 1.0]),
        (50.0, 100.0, [0.403_831_530, 0.596_168_470]),
    ];
    for (right, problems, [low, high]) in cases {
        let interval = wilson(right, problems);
        assert_close(interval[0], low);
        assert_close(interval[1], high);
    }
    assert_eq!(wilson(0.0, 0.0), [0.0, 1.0]);
}

/// `scipy.stats.binomtest(min(a, b), a + b, 0.5).pvalue`
#[test]
fn p_values_are_those_of_scipy() {
    for (first, second, p) in [
        (1, 5, 0.21875),
        (0, 8, 0.007_812_5),
        (4, 4, 1.0),
        (0, 0, 1.0),
        (3, 14, 0.012_725_830),
    ] {
        assert_close(mcnemar(first, second), p);
        assert_close(mcnemar(second, first), p);
    }
}

/// `1 - scipy.special.comb(n - c, k, exact=True) / scipy.special.comb(n, k, exact=True)`
#[test]
fn the_chance_of_k_tries_is_that_of_scipy() {
    for (k, right, tries, chance) in [
        (1, 3, 10, 0.3),
        (2, 3, 10, 0.533_333_333),
        (5, 3, 10, 0.916_666_667),
        (4, 0, 8, 0.0),
        (4, 5, 8, 1.0),
        (8, 1, 8, 1.0),
        (10, 7, 200, 0.305_598_812),
        (100, 7, 200, 0.992_991_117),
        (50, 20, 2_000, 0.398_788_332),
    ] {
        assert_close(pass_at(k, right, tries), chance);
    }
}

/// `scipy.stats.bootstrap((differences,), numpy.mean, n_resamples=200_000, method="percentile")`. The
/// samples are others, so the ends may differ by what 2,000 samples leave open.
#[test]
fn intervals_of_differences_are_those_of_scipy() {
    let few = [
        1.0, 0.0, 0.0, 1.0, -1.0, 1.0, 0.0, 0.5, 1.0, 0.0, 1.0, 1.0, -1.0, 0.0, 1.0, 0.0, 0.0, 1.0,
        0.5, -0.5,
    ];
    let many = [[1.0; 30].as_slice(), &[0.0; 50], &[-1.0; 20]].concat();
    for (differences, expected) in [(few.as_slice(), [0.025, 0.6]), (&many, [-0.04, 0.24])] {
        let interval = bootstrap(differences);
        for (end, expected) in interval.into_iter().zip(expected) {
            assert!((end - expected).abs() <= 0.026, "{interval:?}: {expected}");
        }
    }
}

/// A model that is right with this probability, on this many problems.
fn simulated(random: &mut Random, probability: f64, problems: usize) -> Vec<f64> {
    let problems = 0..problems;
    problems
        .map(|_| f64::from(u8::from(random.next() < probability)))
        .collect()
}

struct Random(u64);

impl Random {
    /// A number from 0 to 1, by a linear congruential generator.
    fn next(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[test]
fn intervals_cover_as_often_as_they_say() {
    let mut random = Random(7);
    for probability in [0.1, 0.5, 0.85] {
        let covered = (0..1_000).filter(|_| {
            let right: f64 = simulated(&mut random, probability, 60).iter().sum();
            let [low, high] = wilson(right, 60.0);
            (low..=high).contains(&probability)
        });
        let covered = covered.count();
        assert!(
            (925..=985).contains(&covered),
            "{probability}: {covered} of 1000"
        );
    }
}

#[test]
fn differences_are_found_and_ties_are_ties() {
    let mut random = Random(11);
    let mut found = |difference: f64| {
        let suites = (0..200).filter(|_| {
            let one = simulated(&mut random, 0.5 + difference, 100);
            let other = simulated(&mut random, 0.5, 100);
            let pairs: Vec<_> = one
                .iter()
                .zip(&other)
                .map(|(one, other)| one - other)
                .collect();
            let [low, high] = bootstrap(&pairs);
            low > 0.0 || high < 0.0
        });
        suites.count()
    };

    // By chance in about 5 of 100 suites, and a difference of 30 points nearly always.
    let (by_chance, real) = (found(0.0), found(0.3));
    assert!(by_chance <= 24, "{by_chance} of 200");
    assert!(real >= 190, "{real} of 200");
}

proptest! {
    #[test]
    fn intervals_hold_what_they_are_of(right in 0..=50_u32, more in 0..50_u32) {
        let problems = f64::from(right + more);
        let [low, high] = wilson(f64::from(right), problems);
        prop_assert!((0.0..=1.0).contains(&low) && (0.0..=1.0).contains(&high));
        if problems > 0.0 {
            let rate = f64::from(right) / problems;
            prop_assert!(low <= rate + 1e-12 && rate <= high + 1e-12);
        }
    }
}
