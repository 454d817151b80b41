use std::time::Duration;

/// Limits that apply to all hooks of one generation together.
///
/// ```
/// use std::time::Duration;
/// use cogwork_thinking::ModeLimits;
///
/// let limits = ModeLimits::default().with_calls(4).with_time(Duration::from_secs(60));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeLimits {
    pub(crate) calls: u32,
    pub(crate) tries: u32,
    pub(crate) time: Duration,
}

impl Default for ModeLimits {
    fn default() -> Self {
        Self {
            calls: 32,
            tries: 2,
            time: Duration::from_secs(300),
        }
    }
}

impl ModeLimits {
    /// Sets the maximum number of calls by hooks, including further drafts. The default is 32.
    #[must_use]
    pub fn with_calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// Sets the maximum number of further drafts that hooks may request. The default is 2.
    #[must_use]
    pub fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// Sets the maximum time for hooks, further drafts and the memory. It doesn't include the first
    /// draft. The default is 5 minutes.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }
}
