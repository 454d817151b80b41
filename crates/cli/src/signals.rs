//! The signals that stop a run or a server. Without a handler, they end the program by themselves.

#[cfg(any(feature = "mcp", feature = "studio"))]
use std::future::pending;

use cogwork_flow::CancellationToken;

/// Waits for a future. When the user presses Ctrl-C, the token is cancelled, so that the future can
/// end in order.
pub(crate) async fn cancelled_by_user<T>(
    token: &CancellationToken,
    future: impl Future<Output = T>,
) -> T {
    tokio::pin!(future);

    tokio::select! {
        // Biased, so that the signal handler is installed before the future starts.
        biased;
        Ok(()) = tokio::signal::ctrl_c() => {
            token.cancel();
            future.await
        }
        done = &mut future => done,
    }
}

/// Waits for Ctrl-C, or for SIGTERM.
#[cfg(any(feature = "mcp", feature = "studio"))]
pub(crate) async fn stop() {
    tokio::select! {
        Ok(()) = tokio::signal::ctrl_c() => {}
        () = terminate() => {}
    }
}

#[cfg(all(unix, any(feature = "mcp", feature = "studio")))]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => pending().await,
    }
}

#[cfg(all(not(unix), any(feature = "mcp", feature = "studio")))]
async fn terminate() {
    pending().await
}
