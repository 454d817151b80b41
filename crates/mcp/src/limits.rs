/// The limits of a server. All of them are stated in errors when they are reached.
///
/// ```
/// use cogwork_mcp::ServerLimits;
///
/// let limits = ServerLimits {
///     thought_bytes: 16 * 1024,
///     ..ServerLimits::default()
/// };
/// assert_eq!(limits.sessions, 10_000);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The maximum length of a message, in bytes. The default is 4 MiB.
    pub message_bytes: usize,
    /// The maximum length of the text of a thought or of a reply, in bytes, and of the parameters
    /// of a thought. The default is 256 KiB.
    pub thought_bytes: usize,
    /// The maximum length of an export of a session of `think`, and of what a resource shows of the
    /// newest entries of a session, in bytes. The default is 1 MiB.
    pub export_bytes: usize,
    /// The maximum number of thoughts in a session. The default is 10,000. In a session of
    /// `sequentialthinking`, the oldest thoughts are dropped if there are more, but remain counted. A session of `think` may be changed ten times as often,
    /// which includes scores and undone thoughts.
    pub thoughts: usize,
    /// The maximum number of branches in a session. The default is 1,000. In a session of
    /// `sequentialthinking`, the branches that began first are left out if there are more.
    pub branches: usize,
    /// The maximum number of sessions of one client. The default is 10,000. If there are more, those
    /// of `sequentialthinking` without a name are removed that were used the longest time ago.
    pub sessions: usize,
    /// The maximum number of requests that are handled at the same time. The default is 64.
    pub concurrent_requests: usize,
    /// The maximum number of runs of the tool `solve` at the same time. The default is 4.
    pub solve_runs: usize,
    /// The maximum size of the database of sessions, in a file or in memory, in bytes. The
    /// default is 2 GiB.
    pub database_bytes: usize,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            message_bytes: 4 * 1024 * 1024,
            thought_bytes: 256 * 1024,
            export_bytes: 1024 * 1024,
            thoughts: 10_000,
            branches: 1_000,
            sessions: 10_000,
            concurrent_requests: 64,
            solve_runs: 4,
            database_bytes: 2 * 1024 * 1024 * 1024,
        }
    }
}
