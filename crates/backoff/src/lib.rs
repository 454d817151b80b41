//! How often to try, and how long to wait between tries.
//!
//! ```text
//! fn delays(&self) -> impl Iterator<Item = Duration>
//! ```
//!
//! [`Backoff`] is the one setting that the retry wrappers of `cogwork-flow` and `cogwork-llm`
//! share. It is data and arithmetic: it waits for nothing and knows no runtime.
//!
//! ```
//! use std::time::Duration;
//! use cogwork_backoff::Backoff;
//!
//! let backoff = Backoff::of::<4>().with_first(Duration::from_secs(1)).with_jitter(false);
//! let delays: Vec<u64> = backoff.delays().map(|delay| delay.as_secs()).collect();
//! assert_eq!(delays, [1, 2, 4]); // four attempts, so three waits between them
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

use std::num::NonZeroU32;
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};

/// How often to try, and how long to wait between tries: delays that grow by a factor, up to a
/// ceiling.
///
/// # Default
///
/// 3 attempts, a first delay of 500 ms, factor 2, a ceiling of 30 s, jitter on.
///
/// # Values out of range
///
/// Every value is taken. A factor that is not a number or is below 1 counts as 1; a first delay
/// above the ceiling is the ceiling. No combination panics or yields a delay above the ceiling.
/// Delays are exact to about seven digits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    attempts: NonZeroU32,
    first: Duration,
    factor: f32,
    ceiling: Duration,
    jitter: bool,
}

impl Backoff {
    /// `N` attempts in all, the first one counted, and the default delays.
    ///
    /// Zero attempts do not compile:
    ///
    /// ```compile_fail
    /// let backoff = cogwork_backoff::Backoff::of::<0>();
    /// ```
    ///
    /// A number known only at run time goes to [`Backoff::attempts`].
    pub const fn of<const N: u32>() -> Self {
        Self::attempts(const { NonZeroU32::new(N).expect("a Backoff has at least one attempt") })
    }

    /// This many attempts in all, the first one counted, and the default delays.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use cogwork_backoff::Backoff;
    ///
    /// let configured: NonZeroU32 = "5".parse().unwrap();
    /// assert_eq!(Backoff::attempts(configured), Backoff::of::<5>());
    /// ```
    pub const fn attempts(attempts: NonZeroU32) -> Self {
        Self {
            attempts,
            first: Duration::from_millis(500),
            factor: 2.0,
            ceiling: Duration::from_secs(30),
            jitter: true,
        }
    }

    /// The delay after the first attempt.
    ///
    /// # Default
    ///
    /// 500 ms.
    #[must_use]
    pub const fn with_first(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// By how much each delay is longer than the one before it. 1 keeps them equal.
    ///
    /// # Default
    ///
    /// 2.
    #[must_use]
    pub const fn with_factor(mut self, factor: f32) -> Self {
        // NaN fails the comparison, so the value kept is always comparable and `PartialEq` reflexive.
        self.factor = if factor >= 1.0 {
            factor.min(f32::MAX)
        } else {
            1.0
        };
        self
    }

    /// The longest that one delay may be, jitter included.
    ///
    /// # Default
    ///
    /// 30 s.
    #[must_use]
    pub const fn with_ceiling(mut self, ceiling: Duration) -> Self {
        self.ceiling = ceiling;
        self
    }

    /// Whether each delay is drawn at random between half of itself and the whole, so that
    /// callers that failed together do not come back together.
    ///
    /// This is the "equal jitter" of [Exponential Backoff And
    /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    ///
    /// # Default
    ///
    /// On.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// How many attempts there are in all.
    pub const fn total_attempts(&self) -> NonZeroU32 {
        self.attempts
    }

    /// The waits between the attempts: one fewer than there are attempts. With jitter, every call
    /// draws new ones.
    pub fn delays(&self) -> impl Iterator<Item = Duration> + Send + Sync + use<> {
        // Jitter in backon adds up to the delay itself, above its own ceiling. Half of every delay
        // as the base makes it the random half, and the ceiling holds.
        let part = if self.jitter { 2 } else { 1 };
        let base = ExponentialBuilder::new()
            .with_min_delay(self.first.min(self.ceiling) / part)
            .with_max_delay(self.ceiling / part)
            .with_factor(self.factor)
            .with_max_times(usize::try_from(self.attempts.get() - 1).unwrap_or(usize::MAX));

        let ceiling = self.ceiling;
        let delays = if self.jitter {
            base.with_jitter()
        } else {
            base
        }
        .build();

        // f32 arithmetic may round a long delay up past the ceiling.
        delays.map(move |delay| delay.min(ceiling))
    }
}

impl Default for Backoff {
    fn default() -> Self {
        Self::of::<3>()
    }
}

/// The code in the README, compiled and run as a doctest.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
