//! A run whose nodes never wait yields to other tasks now and then, or nothing outside could stop it.

use std::future::poll_fn;
use std::task::Poll;

/// Steps, or items of a batch, after which it does.
pub(crate) const BETWEEN_YIELDS: u64 = 128;

/// Gives way at one in so many items.
pub(crate) async fn give_way(index: usize) {
    if index as u64 % BETWEEN_YIELDS == BETWEEN_YIELDS - 1 {
        yield_now().await;
    }
}

/// Lets other tasks run, on any runtime.
pub(crate) async fn yield_now() {
    let mut yielded = false;

    poll_fn(|context| {
        if std::mem::replace(&mut yielded, true) {
            return Poll::Ready(());
        }

        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}
