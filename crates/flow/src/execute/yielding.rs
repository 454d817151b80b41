//! Makes runs whose nodes never wait yield to other tasks, so that they can be stopped from
//! outside.

use std::future::poll_fn;
use std::task::Poll;

/// The number of steps, or of items of a batch, between yields.
pub(crate) const BETWEEN_YIELDS: u64 = 128;

/// Yields to other tasks, on any runtime.
pub(crate) async fn yield_now() {
    let mut yielded = false;

    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }

        // Nothing else would wake the task.
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
