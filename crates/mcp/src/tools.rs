//! The list of all tools.

use crate::ServerBuilder;
use crate::store::SessionStore;
use crate::tool::ServerTool;

/// Returns all tools, in the order in which they are listed.
pub(crate) fn all(store: &SessionStore, settings: &ServerBuilder) -> Vec<Box<dyn ServerTool>> {
    let _ = (store, settings);
    Vec::new()
}
