/// How much of a record a page contains.
///
/// ```
/// use cogwork_trace::PageLimits;
///
/// let limits = PageLimits::default().with_max_bytes(8 * 1024 * 1024);
/// assert_eq!(limits.max_bytes, 8 * 1024 * 1024);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PageLimits {
    /// The maximum number of bytes of the events. In the page, they are compressed, usually to less
    /// than a tenth.
    pub max_bytes: usize,
}

impl Default for PageLimits {
    /// 48 MiB.
    fn default() -> Self {
        Self {
            max_bytes: 48 * 1024 * 1024,
        }
    }
}

impl PageLimits {
    /// Sets the maximum number of bytes of the events. The default is 48 MiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: usize) -> Self {
        self.max_bytes = bytes;
        self
    }
}
