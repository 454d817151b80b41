use std::fmt;

use cogwork_flow::Flow;

use crate::quote::Name;
use crate::yaml::Secrets;
use crate::{FillError, FlowState, Output, Template};

/// A flow that was loaded, ready to run as often as wanted; made by [`Loader::load`](crate::Loader::load).
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

    /// The flow.
    pub fn flow(&self) -> &Flow<FlowState> {
        &self.flow
    }

    /// The flow by value, to be a part of another.
    pub fn into_flow(self) -> Flow<FlowState> {
        self.flow
    }

    /// What the flow says at the end of a run: by the `answer` of the file, or what was said last.
    ///
    /// # Errors
    ///
    /// When the answer would have more than [`Template::MAX_FILLED`] bytes.
    pub fn answer(&self, state: &FlowState) -> Result<Output, FillError> {
        let what = || format!("the `answer` of the flow `{}`", Name(self.flow.name()));
        self.answer.fill(state).map_err(|error| error.of(what()))
    }

    /// Returns a text with `${NAME}` in place of each value that the file took from the environment: for what
    /// is shown of a run, such as the words of a server in an error.
    ///
    /// A value is found [however it is written](cogwork_text::Mask), and so are all parts of it of eight
    /// characters, and the pieces of four bytes or more between `/`, `?`, `#`, `@`, `:`, `&` and `=`. Values of
    /// fewer than 4 bytes stay, and so do scheme, host and port of an address for HTTP.
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
