use std::fmt;

use cogwork_strategies::session::SessionError;

/// Why a call failed, in words for the model. It may have several lines.
#[derive(Debug, Clone)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl From<SessionError> for Failure {
    fn from(error: SessionError) -> Self {
        Self::new(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Does work on a thread for blocking work. It is done even if the caller is gone.
pub(crate) async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, Failure> + Send + 'static,
) -> Result<T, Failure> {
    let done = tokio::task::spawn_blocking(work).await;
    done.unwrap_or_else(|_| {
        // A panic may have come after the change was stored.
        let message = "the call was interrupted; look at the session before you try again";
        Err(Failure::new(message))
    })
}
