//! The signals that stop a run or a server.

use std::future::pending;

use cogwork_flow::CancellationToken;

use crate::output::tell;

/// Waits for a future. When the user presses Ctrl-C, the token is cancelled, so that the future can
/// end in order.
pub(crate) async fn cancelled_by_user<T>(
    token: &CancellationToken,
    future: impl Future<Output = T>,
) -> T {
    let interrupted = async {
        match tokio::signal::ctrl_c().await {
            Ok(()) => token.cancel(),
            Err(error) => tell(format_args!(
                "cogwork: Ctrl-C will stop the program without cleaning up: {error}"
            )),
        }
        pending().await
    };

    tokio::select! {
        // Biased, so that the signal handler is installed before the future starts.
        biased;
        never = interrupted => never,
        done = future => done,
    }
}

/// Waits for Ctrl-C, or for SIGTERM.
#[cfg(any(feature = "mcp", feature = "studio"))]
pub(crate) async fn stop() {
    let interrupt = async {
        // Without a handler, the signal ends the program by itself.
        if tokio::signal::ctrl_c().await.is_err() {
            pending::<()>().await;
        }
    };

    tokio::select! {
        () = interrupt => {}
        () = terminate() => {}
    }
}

#[cfg(all(unix, any(feature = "mcp", feature = "studio")))]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => pending().await,
    }
}

#[cfg(all(not(unix), any(feature = "mcp", feature = "studio")))]
async fn terminate() {
    pending().await
}
