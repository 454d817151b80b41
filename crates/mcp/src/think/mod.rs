//! The tool `think`: the model of the host thinks, and the table of a strategy checks each move.

mod answer;
mod export;
mod given;
mod list;
mod operation;
mod page;
mod plans;
mod report;
mod rules;
mod schema;
mod session_calls;
mod session_tool;
mod sessions;
mod state;
mod tables;
mod text;
mod think_tool;
mod view;

use std::sync::Arc;

use crate::store::SessionStore;
use crate::tool::ServerTool;
use session_tool::ThinkSession;
use sessions::ThinkSessions;
use think_tool::Think;
pub(crate) use view::shown;

/// Returns the tools for sessions whose thoughts follow a strategy.
pub(crate) fn tools(store: &SessionStore) -> [Box<dyn ServerTool>; 2] {
    let sessions = Arc::new(ThinkSessions::new(store.clone()));
    [
        Box::new(Think::new(Arc::clone(&sessions))),
        Box::new(ThinkSession::new(sessions)),
    ]
}
