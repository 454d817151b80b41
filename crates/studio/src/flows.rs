use async_trait::async_trait;

use crate::{FlowError, ServedFlow};

/// The flows that a [`Runner`](crate::Runner) runs: a list of them, or what opens them on demand, such
/// as from files that may have changed.
#[async_trait]
pub trait Flows: Send + Sync + 'static {
    /// Returns the names of the flows.
    fn names(&self) -> Vec<String>;

    /// Opens a flow, before each start, resume or fork of a run.
    ///
    /// # Errors
    ///
    /// Returns an error if no flow has this name, or if it cannot be opened.
    async fn open(&self, name: &str) -> Result<ServedFlow, FlowError>;
}

#[async_trait]
impl Flows for Vec<ServedFlow> {
    fn names(&self) -> Vec<String> {
        self.iter().map(|flow| flow.name().to_owned()).collect()
    }

    async fn open(&self, name: &str) -> Result<ServedFlow, FlowError> {
        let flow = self.iter().find(|flow| flow.name() == name);
        flow.cloned().ok_or(FlowError::Unknown)
    }
}
