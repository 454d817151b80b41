/// Limits on the size of a [`VectorMemory`](crate::VectorMemory).
///
/// A query is compared with every passage, so its time grows with their number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorLimits {
    passages: usize,
    passage_bytes: usize,
}

impl Default for VectorLimits {
    fn default() -> Self {
        Self {
            passages: 100_000,
            passage_bytes: 16 * 1024,
        }
    }
}

impl VectorLimits {
    /// Sets the maximum number of passages. Adding more is an error.
    ///
    /// The default is 100,000.
    #[must_use]
    pub fn with_passages(mut self, passages: usize) -> Self {
        self.passages = passages;
        self
    }

    /// Sets the maximum size of the text of a passage in bytes. Adding a longer one is an error.
    ///
    /// The default is 16 KiB.
    #[must_use]
    pub fn with_passage_bytes(mut self, bytes: usize) -> Self {
        self.passage_bytes = bytes;
        self
    }

    /// Returns the maximum number of passages.
    pub fn passages(self) -> usize {
        self.passages
    }

    /// Returns the maximum size of the text of a passage in bytes.
    pub fn passage_bytes(self) -> usize {
        self.passage_bytes
    }
}
