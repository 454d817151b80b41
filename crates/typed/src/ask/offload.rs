use std::future::pending;
use std::panic::resume_unwind;

use tokio::runtime::Handle;
use tokio_util::task::AbortOnDropHandle;

/// The maximum number of bytes that are read inline. Even the slowest texts of this length take
/// only a few milliseconds.
const INLINE_BYTES: usize = 4096;

tokio::task_local! {
    /// Set while a future is polled that reads everything inline.
    static INLINE: ();
}

/// Polls `future` in a way that lets [`offload`] read every text inline, no matter how long it is.
///
/// This is for programs that poll a future on a thread for blocking work. Since no text is read
/// elsewhere, a future that is pending only waits for what the program itself provides.
///
/// ```
/// use cogwork_typed::ask::{offload, read_inline};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let thread = || std::thread::current().id();
/// assert_ne!(offload(100_000, thread).await, thread());
/// assert_eq!(read_inline(offload(100_000, thread)).await, thread());
/// # }
/// ```
pub fn read_inline<F: Future>(future: F) -> impl Future<Output = F::Output> {
    INLINE.scope((), future)
}

/// Runs `read`, which processes `bytes` bytes of text, without blocking other tasks.
///
/// A short text is read inline. A longer one is read on a thread for blocking work, so that
/// deadlines are met and other tasks can run, no matter how long the reading takes. If the future
/// is dropped after `read` has started, `read` runs to completion and its result is dropped.
/// Outside of a tokio runtime and in [`read_inline`], every text is read inline.
///
/// ```
/// use cogwork_typed::ask::offload;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// let reply = "word ".repeat(100_000);
/// let words = offload(reply.len(), move || reply.split_whitespace().count()).await;
/// assert_eq!(words, 100_000);
/// # }
/// ```
///
/// # Panics
///
/// Panics if `read` panics.
pub async fn offload<T: Send + 'static>(
    bytes: usize,
    read: impl FnOnce() -> T + Send + 'static,
) -> T {
    let is_inline = INLINE.try_with(|()| ()).is_ok();
    if is_inline || bytes <= INLINE_BYTES {
        return read();
    }

    let Ok(runtime) = Handle::try_current() else {
        return read();
    };

    // If the reading hasn't started when the future is dropped, it never starts.
    let reading = AbortOnDropHandle::new(runtime.spawn_blocking(read));
    match reading.await {
        Ok(value) => value,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => resume_unwind(panic),
            // The runtime is shutting down, and will drop this task as well.
            Err(_) => pending().await,
        },
    }
}
