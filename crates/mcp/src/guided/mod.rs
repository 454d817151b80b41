//! The tools `begin` and `answer`: reasoning with the model of the host, through tools alone.
//!
//! A session is a run of a strategy or of the chain of thought whose model is the host. Its entries
//! are what the host gave it, in order. The run follows from them, so a session is rebuilt by
//! giving the same replies again. Times are part of the entries, and the clock of the run itself
//! does not limit it.

mod board;
mod entry;
mod offered;
mod progress;
mod question;
mod reasoner;
mod resource;
mod schema;
mod service;
mod session;
mod strategy;
mod text;
mod thought_loop;
mod tools;
mod view;

use std::sync::Arc;

use crate::store::SessionStore;
use crate::tool::ServerTool;
pub(crate) use resource::shown;
use service::Guided;
use tools::AnswerTool;
use tools::BeginTool;

/// Returns the tools over these sessions.
pub(crate) fn tools(store: &SessionStore) -> [Box<dyn ServerTool>; 2] {
    let guided = Arc::new(Guided::new(store.clone()));
    [
        Box::new(BeginTool(Arc::clone(&guided))),
        Box::new(AnswerTool(guided)),
    ]
}
