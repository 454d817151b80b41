use std::future::Future;

use tokio::runtime::Handle;

use crate::store::StoreError;

/// Does work that reads replies on a thread for blocking work. It is done even if the caller is
/// dropped.
pub(super) async fn on_own_thread<T, E>(
    work: impl Future<Output = Result<T, E>> + Send + 'static,
) -> Result<T, E>
where
    T: Send + 'static,
    E: From<StoreError> + Send + 'static,
{
    let runtime = Handle::current();
    let done = tokio::task::spawn_blocking(move || runtime.block_on(work));

    done.await.unwrap_or_else(|_| {
        let message = "the call was interrupted; what was accepted is kept, so look at the session";
        Err(StoreError::new(message).into())
    })
}
