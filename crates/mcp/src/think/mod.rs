//! The tool `think`: the model of the host thinks, and the table of a strategy checks each move.

mod answer;
mod begin;
mod branch_name;
mod compatible;
mod draft;
mod export;
mod failure;
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
pub(crate) use view::ThinkView;

/// Returns the tools for sessions whose thoughts follow a strategy, and those of think-strategies
/// if they are to be listed.
pub(crate) fn tools(store: &SessionStore, has_think_strategies: bool) -> Vec<Box<dyn ServerTool>> {
    let sessions = Arc::new(ThinkSessions::new(store.clone()));
    let mut tools: Vec<Box<dyn ServerTool>> = vec![
        Box::new(Think::new(Arc::clone(&sessions))),
        Box::new(ThinkSession::new(Arc::clone(&sessions))),
    ];

    if has_think_strategies {
        tools.extend(compatible::tools(&sessions));
    }
    tools
}
