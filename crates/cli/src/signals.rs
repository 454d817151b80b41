//! The signals that stop a server, and one that must not.

/// Waits for Ctrl-C, or for SIGTERM.
pub(crate) async fn stop() {
    tokio::select! {
        () = interrupt() => {}
        () = terminate() => {}
    }
}

async fn interrupt() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

#[cfg(unix)]
async fn terminate() {
    use tokio::signal::unix::{SignalKind, signal};

    match signal(SignalKind::terminate()) {
        Ok(mut signal) => {
            signal.recv().await;
        }
        Err(_) => std::future::pending().await,
    }
}

#[cfg(not(unix))]
async fn terminate() {
    std::future::pending().await
}

/// Makes a write beyond the maximum size of files (`ulimit -f`) an error, whose signal would end the
/// process otherwise. Must be called within a runtime.
#[cfg(all(unix, feature = "mcp"))]
pub(crate) fn survive_full_files() {
    use tokio::signal::unix::{SignalKind, signal};

    /// The number of SIGXFSZ on Linux, macOS and the BSDs.
    const FILE_SIZE_EXCEEDED: i32 = 25;

    // The handler stays in place after the stream of signals is dropped.
    drop(signal(SignalKind::from_raw(FILE_SIZE_EXCEEDED)));
}

#[cfg(all(not(unix), feature = "mcp"))]
pub(crate) fn survive_full_files() {}
