//! Writes changes, and repeats them while the server is gone.

use std::time::Duration;

use super::held::Written;
use super::server::{Clock as _, Server};

/// Why a change wasn't written.
#[derive(Debug)]
pub(crate) enum WriteError<E> {
    /// The rows aren't as this process left them, or the lease was taken by somebody else.
    Refused,
    Failed(E),
}

/// Writes a change. While the server is gone, this is repeated for as long as the process is patient.
pub(crate) async fn write<S: Server>(
    server: &S,
    change: &S::Change,
) -> Result<(), WriteError<S::Error>> {
    let clock = server.clock();
    let give_up = clock.now() + server.durations().patience;
    let mut delays = None;
    let mut is_repeated = false;

    loop {
        let error = match attempt(server, change, is_repeated).await {
            Ok(Written::Yes) => return Ok(()),
            Ok(Written::Refused) => return Err(WriteError::Refused),
            Err(error) => error,
        };

        let delays = delays.get_or_insert_with(|| server.delays());
        let delay = delays.next().unwrap_or(Duration::from_secs(1));
        if !S::is_passing(&error) || clock.now() + delay > give_up {
            return Err(WriteError::Failed(error));
        }

        is_repeated = true;
        clock.sleep(delay).await;
    }
}

async fn attempt<S: Server>(
    server: &S,
    change: &S::Change,
    is_repeated: bool,
) -> Result<Written, S::Error> {
    let written = server.write(change).await?;

    // The connection may have failed after the change was committed.
    if written == Written::Refused && is_repeated && server.is_written(change).await? {
        return Ok(Written::Yes);
    }

    Ok(written)
}
