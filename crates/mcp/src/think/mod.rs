//! The tool `think`: the model of the host thinks, and the table of a strategy checks each move.

mod answer;
mod begin;
mod branch_name;
mod draft;
mod failure;
mod operation;
mod report;
mod rules;
mod schema;
mod sessions;
mod state;
mod text;
mod think_tool;

use std::sync::Arc;

use crate::ServerBuilder;
use crate::store::SessionStore;
use crate::tool::ServerTool;
use sessions::ThinkSessions;
use think_tool::Think;

/// Returns the tools for sessions whose thoughts follow a strategy.
pub(crate) fn tools(store: &SessionStore, _: &ServerBuilder) -> Vec<Box<dyn ServerTool>> {
    let sessions = Arc::new(ThinkSessions::new(store.clone()));
    vec![Box::new(Think::new(sessions))]
}
