use std::time::Duration;

/// What the hooks of one generation may take together.
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
    pub(crate) answer_bytes: usize,
}

impl Default for ModeLimits {
    fn default() -> Self {
        Self {
            calls: 32,
            tries: 2,
            time: Duration::from_secs(300),
            answer_bytes: 1024 * 1024,
        }
    }
}

impl ModeLimits {
    /// How many calls the hooks may make, further drafts included. Default: 32.
    #[must_use]
    pub fn with_calls(mut self, calls: u32) -> Self {
        self.calls = calls;
        self
    }

    /// How many further drafts the hooks may ask for. Default: 2.
    #[must_use]
    pub fn with_tries(mut self, tries: u32) -> Self {
        self.tries = tries;
        self
    }

    /// How long the hooks, the drafts they ask for and the memory may take. The first draft takes what its
    /// client allows. Default: 5 minutes.
    #[must_use]
    pub fn with_time(mut self, time: Duration) -> Self {
        self.time = time;
        self
    }

    /// How long an answer to a hook may be, in bytes. Default: 1 MiB.
    #[must_use]
    pub fn with_answer_bytes(mut self, bytes: usize) -> Self {
        self.answer_bytes = bytes;
        self
    }
}
