use cogwork_text::ErrorText;
use restate_sdk::errors::TerminalError;

/// Why the journal of a run cannot continue, although its worker is well.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Stopped {
    /// Restate ended the run, usually because it was cancelled.
    #[error("{}", ErrorText(.message))]
    ByEngine { code: u16, message: String },
    /// A task that `exec` spawned made a call after the run.
    #[error("the run is over")]
    HandlerEnded,
    /// The deadline of the run passed while it slept or waited.
    #[error("the run reached its deadline")]
    Deadline,
}

impl From<TerminalError> for Stopped {
    fn from(error: TerminalError) -> Self {
        Self::ByEngine {
            code: error.code(),
            message: error.message().to_owned(),
        }
    }
}

/// The HTTP status codes with which runs end.
pub(crate) mod code {
    /// The input cannot be read.
    pub(crate) const UNREADABLE: u16 = 400;
    pub(crate) const NOT_FOUND: u16 = 404;
    /// The deadline of the run passed.
    pub(crate) const DEADLINE: u16 = 408;
    /// The run was cancelled.
    pub(crate) const CANCELLED: u16 = 409;
    /// The run has already ended.
    pub(crate) const ENDED: u16 = 410;
    pub(crate) const TOO_LARGE: u16 = 413;
    /// The answer doesn't match the schema of its wait.
    pub(crate) const REFUSED: u16 = 422;
    /// The flow failed.
    pub(crate) const FAILED: u16 = 500;
}
