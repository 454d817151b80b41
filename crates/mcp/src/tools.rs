//! The list of all tools.

use crate::ServerBuilder;
use crate::sequential::SequentialThinking;
use crate::solve::{Solve, Tasks};
use crate::store::SessionStore;
use crate::tool::ServerTool;

/// Returns all tools, in the order in which they are listed.
pub(crate) fn all(
    store: &SessionStore,
    settings: &ServerBuilder,
    tasks: &Tasks,
) -> Vec<Box<dyn ServerTool>> {
    let sequential =
        SequentialThinking::new(store.clone(), settings.is_strict, settings.has_thought_log);

    let mut tools: Vec<Box<dyn ServerTool>> = vec![Box::new(sequential)];
    tools.extend(crate::think::tools(store, settings.has_think_strategies));
    tools.extend(crate::guided::tools(store));
    tools.push(Box::new(Solve::new(store, &settings.solve, tasks)));
    tools
}
