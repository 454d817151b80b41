use std::hash::{BuildHasher, Hasher, RandomState};
use std::iter::successors;
use std::num::NonZeroU32;
use std::time::Duration;

/// Retry settings: the number of attempts and the exponential delays between them, up to a maximum.
///
/// It only holds the settings and computes the delays: it doesn't sleep and doesn't depend on a
/// runtime.
///
/// ```
/// use std::time::Duration;
/// use cogwork_text::Backoff;
///
/// let backoff = Backoff::of::<4>().with_first(Duration::from_secs(1)).with_jitter(false);
/// let delays: Vec<u64> = backoff.delays().map(|delay| delay.as_secs()).collect();
/// assert_eq!(delays, [1, 2, 4]); // four attempts, so three waits between them
/// ```
///
/// # Default
///
/// 3 attempts, a first delay of 500 ms, a factor of 2, a maximum delay of 30 s, with jitter.
///
/// # Values out of range
///
/// All values are accepted. A factor that is NaN or below 1 counts as 1, and a first delay above
/// the maximum as the maximum. No combination panics or returns a delay above the maximum.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Backoff {
    attempts: NonZeroU32,
    first: Duration,
    factor: f32,
    ceiling: Duration,
    jitter: bool,
}

impl Backoff {
    /// Creates settings with `N` attempts, including the first, and the default delays.
    ///
    /// A number of 0 doesn't compile:
    ///
    /// ```compile_fail
    /// let backoff = cogwork_text::Backoff::of::<0>();
    /// ```
    ///
    /// For a number that is only known at run time, use [`Backoff::attempts`].
    pub const fn of<const N: u32>() -> Self {
        Self::attempts(const { NonZeroU32::new(N).expect("a Backoff has at least one attempt") })
    }

    /// Creates settings with `N` attempts, including the first, and the same delay between all of
    /// them.
    ///
    /// ```
    /// use std::time::Duration;
    /// use cogwork_text::Backoff;
    ///
    /// let delays: Vec<_> = Backoff::fixed::<3>(Duration::from_secs(2)).delays().collect();
    /// assert_eq!(delays, [Duration::from_secs(2); 2]);
    /// ```
    pub const fn fixed<const N: u32>(delay: Duration) -> Self {
        Self::of::<N>()
            .with_first(delay)
            .with_factor(1.0)
            .with_ceiling(delay)
            .with_jitter(false)
    }

    /// Creates settings with this number of attempts, including the first, and the default delays.
    ///
    /// ```
    /// use std::num::NonZeroU32;
    /// use cogwork_text::Backoff;
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

    /// Sets the delay after the first attempt.
    ///
    /// # Default
    ///
    /// 500 ms.
    #[must_use]
    pub const fn with_first(mut self, delay: Duration) -> Self {
        self.first = delay;
        self
    }

    /// Sets the factor by which each delay is longer than the previous one. With 1, all delays are
    /// equal.
    ///
    /// # Default
    ///
    /// 2.
    #[must_use]
    pub const fn with_factor(mut self, factor: f32) -> Self {
        // The comparison is false for NaN, so the stored value is always comparable and `PartialEq`
        // is reflexive.
        self.factor = if factor >= 1.0 {
            factor.min(f32::MAX)
        } else {
            1.0
        };
        self
    }

    /// Sets the maximum delay, including jitter.
    ///
    /// # Default
    ///
    /// 30 s.
    #[must_use]
    pub const fn with_ceiling(mut self, ceiling: Duration) -> Self {
        self.ceiling = ceiling;
        self
    }

    /// Sets whether each delay is replaced with a random value between half of it and all of it, so
    /// that callers that failed at the same time don't retry at the same time.
    ///
    /// This is the "equal jitter" of [Exponential Backoff And
    /// Jitter](https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/).
    ///
    /// # Default
    ///
    /// `true`.
    #[must_use]
    pub const fn with_jitter(mut self, jitter: bool) -> Self {
        self.jitter = jitter;
        self
    }

    /// Returns an iterator over the delays between the attempts. It yields one delay fewer than
    /// there are attempts. With jitter, every call returns different delays.
    pub fn delays(&self) -> impl Iterator<Item = Duration> + Send + Sync + use<> {
        let Self {
            ceiling, jitter, ..
        } = *self;
        let factor = f64::from(self.factor);
        let retries = self.attempts.get() - 1;

        let longer = move |delay: &Duration| {
            // Fails for delays that a `Duration` cannot hold, which are above any maximum.
            let longer = Duration::try_from_secs_f64(delay.as_secs_f64() * factor);
            Some(longer.map_or(ceiling, |longer| longer.min(ceiling)))
        };
        let delays = successors(Some(self.first.min(ceiling)), longer);

        delays
            .take(usize::try_from(retries).unwrap_or(usize::MAX))
            .map(move |delay| if jitter { jittered(delay) } else { delay })
    }
}

/// Returns a random delay between half of this one and all of it.
fn jittered(delay: Duration) -> Duration {
    // Each state has other keys, so its hash of nothing is a random number.
    let random = RandomState::new().build_hasher().finish();
    // At least half of it, or many callers would come back at once.
    let half = delay / 2;
    half + half.mul_f64(random as f64 / u64::MAX as f64)
}

impl Default for Backoff {
    fn default() -> Self {
        Self::of::<3>()
    }
}
