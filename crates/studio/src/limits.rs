/// The limits of a [`Studio`](crate::Studio).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct StudioLimits {
    /// The maximum number of connections. The default is 64.
    pub connections: usize,
    /// The maximum number of live views. The default is 16.
    pub streams: usize,
    /// The maximum length of the body of a request, in bytes. The default is 1 MiB.
    pub body_bytes: usize,
    /// The maximum length of a line of a record, in bytes. Longer lines are skipped. The default is
    /// 16 MiB.
    pub line_bytes: usize,
    /// The maximum number of bytes of a record that one live view is sent before it is asked
    /// whether to continue. The default is 64 MiB.
    pub view_bytes: u64,
    /// How many of the newest runs are searched. The default is 10,000.
    pub searched_runs: u32,
}

impl Default for StudioLimits {
    fn default() -> Self {
        Self {
            connections: 64,
            streams: 16,
            body_bytes: 1 << 20,
            line_bytes: 16 << 20,
            view_bytes: 64 << 20,
            searched_runs: 10_000,
        }
    }
}

impl StudioLimits {
    /// Sets the maximum number of connections.
    #[must_use]
    pub fn with_connections(mut self, connections: usize) -> Self {
        self.connections = connections.max(1);
        self
    }

    /// Sets the maximum number of live views.
    #[must_use]
    pub fn with_streams(mut self, streams: usize) -> Self {
        self.streams = streams.max(1);
        self
    }

    /// Sets the maximum length of the body of a request, in bytes.
    #[must_use]
    pub fn with_body_bytes(mut self, bytes: usize) -> Self {
        self.body_bytes = bytes;
        self
    }

    /// Sets the maximum length of a line of a record, in bytes.
    #[must_use]
    pub fn with_line_bytes(mut self, bytes: usize) -> Self {
        self.line_bytes = bytes;
        self
    }

    /// Sets the maximum number of bytes of a record that one live view is sent at once.
    #[must_use]
    pub fn with_view_bytes(mut self, bytes: u64) -> Self {
        self.view_bytes = bytes;
        self
    }

    /// Sets how many of the newest runs are searched.
    #[must_use]
    pub fn with_searched_runs(mut self, runs: u32) -> Self {
        self.searched_runs = runs;
        self
    }
}
