use std::future::pending;
use std::panic::resume_unwind;

use tokio::runtime::Handle;

/// Runs `work`, which waits for files, on a thread for blocking work. Outside of a tokio runtime, it
/// is run at once.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    let Ok(runtime) = Handle::try_current() else {
        // Without a runtime, nothing else waits for this thread.
        return work();
    };

    match runtime.spawn_blocking(work).await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, and will drop this task as well.
            Err(_) => pending().await,
        },
    }
}
