//! Whether the current call to a model is reported already.

use std::cell::Cell;
use std::future::poll_fn;
use std::pin::pin;

thread_local! {
    static IS_REPORTED: Cell<bool> = const { Cell::new(false) };
}

/// Returns whether the code runs inside a call that is reported.
pub(super) fn is_reported() -> bool {
    IS_REPORTED.get()
}

/// Polls a call that is reported by the caller, so that clients inside it don't report it again.
pub(super) async fn reported<T>(call: impl Future<Output = T>) -> T {
    let mut call = pin!(call);

    poll_fn(|context| {
        let _entered = Entered(IS_REPORTED.replace(true));
        call.as_mut().poll(context)
    })
    .await
}

/// Restores the previous value, since other calls are polled on the same thread.
struct Entered(bool);

impl Drop for Entered {
    fn drop(&mut self) {
        IS_REPORTED.set(self.0);
    }
}
