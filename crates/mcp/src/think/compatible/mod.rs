//! The tools of think-strategies, on the sessions of `think`.

mod given;
mod inferred;
mod manager;
mod strategies;
mod tools;

use std::sync::Arc;

use super::sessions::ThinkSessions;
use crate::tool::ServerTool;
use manager::ThinkSessionManager;
use strategies::ThinkStrategies;
use tools::ThinkTools;

/// Returns the three tools.
pub(crate) fn tools(sessions: &Arc<ThinkSessions>) -> [Box<dyn ServerTool>; 3] {
    [
        Box::new(ThinkStrategies::new(Arc::clone(sessions))),
        Box::new(ThinkTools::new(Arc::clone(sessions))),
        Box::new(ThinkSessionManager::new(Arc::clone(sessions))),
    ]
}
