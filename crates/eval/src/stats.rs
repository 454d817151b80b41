//! The statistics of a table.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};
use statrs::function::factorial::ln_binomial;
use statrs::statistics::{Data, OrderStatistics};

use crate::random::Random;

/// Returns the interval of a rate by Wilson's score method (Wilson 1927, "Probable inference, the law
/// of succession, and statistical inference"), at 95 %. `right` may be a fraction, if each of
/// `problems` was tried several times.
pub fn wilson(right: f64, problems: f64) -> [f64; 2] {
    if problems <= 0.0 {
        return [0.0, 1.0];
    }

    let z = Normal::standard().inverse_cdf(0.975);
    let rate = right / problems;
    let scale = 1.0 + z * z / problems;
    let middle = (rate + z * z / (2.0 * problems)) / scale;
    let variance = rate * (1.0 - rate) / problems + z * z / (4.0 * problems * problems);
    let half = z / scale * variance.sqrt();

    // Rounding can lead a little beyond 0 and 1.
    [(middle - half).max(0.0), (middle + half).min(1.0)]
}

/// Returns the interval of the mean of paired differences, at 95 %: the percentiles of a bootstrap
/// over problems (Efron 1979, "Bootstrap methods: another look at the jackknife").
pub fn bootstrap(differences: &[f64]) -> [f64; 2] {
    if differences.is_empty() {
        return [0.0, 0.0];
    }

    // Always the same, so that a table can be made again.
    let mut random = Random::new(differences.len() as u64);
    let means = (0..2_000).map(|_| {
        let drawn = differences.iter().map(|_| random.choose(differences));
        drawn.sum::<f64>() / differences.len() as f64
    });
    let mut means = Data::new(means.collect::<Vec<_>>());

    [means.quantile(0.025), means.quantile(0.975)]
}

/// Returns the exact p-value of McNemar's test (McNemar 1947) that two arms are equally good, from
/// the numbers of problems that only one of them solved.
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let differing = only_first + only_second;
    let Ok(binomial) = Binomial::new(0.5, differing) else {
        return 1.0;
    };

    // The middle of the distribution is part of both tails.
    (2.0 * binomial.cdf(only_first.min(only_second))).min(1.0)
}

/// Returns the probability that at least one of `k` tries is right, if `right` of `tries` were: the
/// unbiased estimate of Chen et al. 2021, "Evaluating Large Language Models Trained on Code".
pub fn pass_at(k: u64, right: u64, tries: u64) -> f64 {
    let (k, wrong) = (k.min(tries), tries.saturating_sub(right));
    // The numbers of ways to draw `k` are too large for many tries, but not their logarithms.
    let none_right = ln_binomial(wrong, k) - ln_binomial(tries, k);
    1.0 - none_right.exp()
}
