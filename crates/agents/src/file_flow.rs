use std::fmt;

use cogwork_flow::Flow;

use crate::quote::Name;
use crate::yaml::Secrets;
use crate::{FillError, FlowState, Output, Template};

/// A flow that was loaded by [`Loader::load`](crate::Loader::load). It can run any number of times.
pub struct FileFlow {
    flow: Flow<FlowState>,
    answer: Template,
    secrets: Secrets,
}

impl FileFlow {
    pub(crate) fn new(flow: Flow<FlowState>, answer: Template, secrets: Secrets) -> Self {
        Self {
            flow,
            answer,
            secrets,
        }
    }

    /// Returns the flow.
    pub fn flow(&self) -> &Flow<FlowState> {
        &self.flow
    }

    /// Returns the flow by value, for use as a subflow.
    pub fn into_flow(self) -> Flow<FlowState> {
        self.flow
    }

    /// Returns the answer of the flow after a run: the filled `answer` of the file, or the last
    /// output.
    ///
    /// # Errors
    ///
    /// If the answer would exceed [`Template::MAX_FILLED`] bytes.
    pub fn answer(&self, state: &FlowState) -> Result<Output, FillError> {
        let what = || format!("the `answer` of the flow `{}`", Name(self.flow.name()));
        self.answer.fill(state).map_err(|error| error.of(what()))
    }

    /// Replaces each value that the file took from the environment with `${NAME}`. Use it for
    /// everything that is shown of a run, such as a server's error message.
    ///
    /// A value is found [however it is written](cogwork_text::Mask), and so are all parts of it of
    /// eight characters, and the pieces of four bytes or more between `/`, `?`, `#`, `@`, `:`, `&`
    /// and `=`. Values of fewer than 4 bytes stay, and so do scheme, host and port of an address
    /// for HTTP.
    pub fn hide_secrets(&self, text: &str) -> String {
        self.secrets.hide(text)
    }
}

impl fmt::Debug for FileFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFlow")
            .field("name", &self.flow.name())
            .field("variables", &self.secrets)
            .finish()
    }
}
