use std::time::Duration;

/// Limits that apply to all hooks of one generation together.
///
/// ```
/// use cogwork_thinking::ModeLimits;
///
/// let limits = ModeLimits { calls: 4, ..ModeLimits::default() };
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ModeLimits {
    /// The maximum number of calls by hooks, including further drafts. The default is 32.
    pub calls: u32,
    /// The maximum number of further drafts that hooks may request. The default is 2.
    pub tries: u32,
    /// The maximum time for hooks, further drafts and the memory. It doesn't include the first
    /// draft. The default is 5 minutes.
    pub time: Duration,
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
