//! The statistics of a table.

use statrs::distribution::{Binomial, ContinuousCDF, DiscreteCDF, Normal};

use crate::random::Random;

/// The confidence of all intervals.
const CONFIDENCE: f64 = 0.95;

/// The number of samples of a bootstrap.
const SAMPLES: usize = 2_000;

/// Returns the interval of a rate by Wilson's score method (Wilson 1927, "Probable inference, the law
/// of succession, and statistical inference"), at 95 %. `right` may be a fraction, if each of
/// `problems` was tried several times.
pub fn wilson(right: f64, problems: f64) -> [f64; 2] {
    if problems <= 0.0 {
        return [0.0, 1.0];
    }

    let z = Normal::standard().inverse_cdf(0.5 + CONFIDENCE / 2.0);
    let rate = right / problems;
    let scale = 1.0 + z * z / problems;
    let middle = (rate + z * z / (2.0 * problems)) / scale;
    let variance = rate * (1.0 - rate) / problems + z * z / (4.0 * problems * problems);
    let half = z / scale * variance.sqrt();

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
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let drawn = (0..differences.len()).filter_map(|_| random.choose(differences));
            drawn.sum::<f64>() / differences.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);

    let at = |share: f64| {
        let index = (share * (SAMPLES - 1) as f64).round() as usize;
        means.get(index).copied().unwrap_or_default()
    };
    [at((1.0 - CONFIDENCE) / 2.0), at(0.5 + CONFIDENCE / 2.0)]
}

/// Returns the exact p-value of McNemar's test (McNemar 1947) that two arms are equally good, from
/// the numbers of problems that only one of them solved.
pub fn mcnemar(only_first: u64, only_second: u64) -> f64 {
    let differing = only_first + only_second;
    let Ok(binomial) = Binomial::new(0.5, differing) else {
        return 1.0;
    };

    (2.0 * binomial.cdf(only_first.min(only_second))).min(1.0)
}

/// Returns the probability that at least one of `k` tries is right, if `right` of `tries` were: the
/// unbiased estimate of Chen et al. 2021, "Evaluating Large Language Models Trained on Code".
pub fn pass_at(k: u32, right: u32, tries: u32) -> f64 {
    let wrong = tries.saturating_sub(right);
    let factors = (0..k).map(|drawn| {
        let left = f64::from(tries) - f64::from(drawn);
        (f64::from(wrong) - f64::from(drawn)).max(0.0) / left.max(1.0)
    });

    1.0 - factors.product::<f64>()
}
