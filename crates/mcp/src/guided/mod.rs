//! The tools `begin` and `answer`: reasoning with the model of the host, through tools alone.
//!
//! A session is a run of a strategy or of the chain of thought whose model is the host. Its entries
//! are what the host gave it, in order. The run follows from them, so a session is rebuilt by
//! giving the same replies again. Times are part of the entries, and the clock of the run itself
//! does not limit it.

mod board;
mod entry;
mod question;
mod reasoner;
mod session;
mod text;
mod tools;
mod view;

use std::future::Future;
use std::sync::Arc;

use tokio::runtime::Handle;

use crate::store::{SessionStore, StoreError};
use crate::tool::ServerTool;
use tools::{AnswerTool, BeginTool, Guided};
pub(crate) use view::shown;

/// Returns the tools over these sessions.
pub(crate) fn tools(store: &SessionStore) -> [Box<dyn ServerTool>; 2] {
    let guided = Arc::new(Guided::new(store.clone()));
    [
        Box::new(BeginTool(Arc::clone(&guided))),
        Box::new(AnswerTool(guided)),
    ]
}

/// Does work that reads replies on a thread for blocking work. It is done even if the caller is
/// dropped.
async fn on_own_thread<T, E>(
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
