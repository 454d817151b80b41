/// The limits of a server. Errors state the one that was reached.
///
/// ```
/// use cogwork_mcp::ServerLimits;
///
/// let limits = ServerLimits {
///     argument_bytes: 16 * 1024,
///     ..ServerLimits::default()
/// };
/// assert_eq!(limits.sessions, 10_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The maximum length of a message, in bytes. The default is 4 MiB.
    pub message_bytes: usize,
    /// The maximum length of the arguments of a call, in bytes of JSON. The default is 256 KiB,
    /// which is also the most.
    pub argument_bytes: usize,
    /// The maximum number of thoughts in a session. The default is 10,000, and `think` allows up to
    /// [`MAX_THOUGHTS`](cogwork_strategies::session::Session::MAX_THOUGHTS). In a session of
    /// `sequentialthinking`, the oldest thoughts are dropped if there are more, but remain counted.
    /// A session of `think` may be changed ten times as often, which includes scores and undone
    /// thoughts.
    pub thoughts: usize,
    /// The maximum number of branches in a session. The default is 1,000, which is also the most for
    /// `think`. In a session of `sequentialthinking`, the branches that began first are left out if there are more.
    pub branches: usize,
    /// The maximum number of sessions of one client. The default is 10,000. If there are more, those
    /// of `sequentialthinking` without a name are removed that were used the longest time ago.
    pub sessions: usize,
    /// The maximum size of the database of sessions, in a file or in memory, in bytes. The
    /// default is 2 GiB.
    pub database_bytes: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            message_bytes: 4 * 1024 * 1024,
            argument_bytes: 256 * 1024,
            thoughts: 10_000,
            branches: 1_000,
            sessions: 10_000,
            database_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}
