/// How much of a record is read.
///
/// ```
/// use cogwork_trace::ReadLimits;
///
/// let limits = ReadLimits::default().with_max_line(64 * 1024).with_max_lines(10_000);
/// assert_eq!(limits.max_lines, 10_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ReadLimits {
    /// The maximum number of bytes of a line. Longer lines are skipped with an error.
    pub max_line: usize,
    /// The maximum number of lines.
    pub max_lines: u64,
    /// The maximum number of bytes of the record.
    pub max_bytes: u64,
}

impl Default for ReadLimits {
    /// 16 MiB per line, 10 million lines, and 2 GiB in all.
    fn default() -> Self {
        Self {
            max_line: 16 * 1024 * 1024,
            max_lines: 10_000_000,
            max_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}

impl ReadLimits {
    /// Sets the maximum number of bytes of a line. The default is 16 MiB.
    #[must_use]
    pub fn with_max_line(mut self, bytes: usize) -> Self {
        self.max_line = bytes;
        self
    }

    /// Sets the maximum number of lines. The default is 10 million.
    #[must_use]
    pub fn with_max_lines(mut self, lines: u64) -> Self {
        self.max_lines = lines;
        self
    }

    /// Sets the maximum number of bytes of the record. The default is 2 GiB.
    #[must_use]
    pub fn with_max_bytes(mut self, bytes: u64) -> Self {
        self.max_bytes = bytes;
        self
    }
}
