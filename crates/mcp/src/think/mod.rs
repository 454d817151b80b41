//! The tool `think`: the model of the host thinks, and the table of a strategy checks each move.

mod change;
mod export;
mod list;
mod page;
mod report;
mod sessions;
mod tables;
mod text;
mod tools;

use std::sync::Arc;

use crate::store::SessionStore;
use crate::tool::ServerTool;
pub(crate) use export::shown;
use sessions::ThinkSessions;
use tools::{Think, ThinkSession};

/// Returns the tools for sessions whose thoughts follow a strategy.
pub(crate) fn tools(store: &SessionStore) -> [Box<dyn ServerTool>; 2] {
    let sessions = Arc::new(ThinkSessions(store.clone()));
    [
        Box::new(Think(Arc::clone(&sessions))),
        Box::new(ThinkSession(sessions)),
    ]
}
