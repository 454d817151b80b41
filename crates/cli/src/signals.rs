//! The signals that stop a run or a server. Without a handler, they end the program by themselves.

#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};

use cogwork_flow::CancellationToken;

/// Waits for a future. When the program is told to [`stop`], the token is cancelled, so that the future
/// can end in order.
pub(crate) async fn cancelled_by_user<T>(
    token: &CancellationToken,
    future: impl Future<Output = T>,
) -> T {
    tokio::pin!(future);

    tokio::select! {
        // Biased, so that the signal handlers are installed before the future starts.
        biased;
        () = stop() => {
            token.cancel();
            future.await
        }
        done = &mut future => done,
    }
}

/// Waits for Ctrl-C, or for SIGTERM.
pub(crate) async fn stop() {
    tokio::select! {
        Ok(()) = tokio::signal::ctrl_c() => {}
        () = terminate() => {}
    }
}

#[cfg(unix)]
async fn terminate() {
    match signal(SignalKind::terminate()) {
        Ok(mut signal) => drop(signal.recv().await),
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminate() {
    std::future::pending().await
}
