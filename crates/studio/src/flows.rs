use async_trait::async_trait;
use cogwork_text::Name;

use crate::{FlowError, ServedFlow};

/// The flows that a [`Runner`](crate::Runner) runs: a list of them, or what opens them on demand, such
/// as from files that may have changed.
#[async_trait]
pub trait Flows: Send + Sync + 'static {
    /// Returns the names of the flows.
    fn names(&self) -> Vec<String>;

    /// Opens a flow, before each start, resume or fork of a run. With a model, all nodes whose model
    /// can be replaced use this one.
    ///
    /// # Errors
    ///
    /// Returns an error if no flow has this name, or if it cannot be opened like this.
    async fn open(&self, name: &str, model: Option<&str>) -> Result<ServedFlow, FlowError>;
}

#[async_trait]
impl Flows for Vec<ServedFlow> {
    fn names(&self) -> Vec<String> {
        self.iter().map(|flow| flow.name().to_owned()).collect()
    }

    async fn open(&self, name: &str, model: Option<&str>) -> Result<ServedFlow, FlowError> {
        let flow = self.iter().find(|flow| flow.name() == name);
        let flow = flow.ok_or(FlowError::Unknown)?;

        match model {
            None => Ok(flow.clone()),
            Some(model) => Err(FlowError::refused(format_args!(
                "the model cannot be replaced by `{}` in this flow",
                Name(model)
            ))),
        }
    }
}
