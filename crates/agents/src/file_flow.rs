use std::fmt;

use cogwork_flow::Flow;
use cogwork_text::{MultiLine, NameList};
#[cfg(feature = "mcp")]
use cogwork_tools::mcp::McpTools;
#[cfg(feature = "mcp")]
use futures_util::future::try_join_all;

use crate::names::Name;
use crate::secrets::Secrets;
use crate::{FlowState, Output, Template, TemplateError};

/// A flow loaded by [`Loader::load`](crate::Loader::load). It can be run any number of times.
pub struct FileFlow {
    pub(crate) flow: Flow<FlowState>,
    pub(crate) answer: Template,
    pub(crate) secrets: Secrets,
    pub(crate) needs_journal: Option<String>,
    pub(crate) digest: [u8; 32],
    pub(crate) names_files: bool,
    #[cfg(feature = "mcp")]
    pub(crate) servers: Vec<McpTools>,
}

/// A server of tools that a file names can't be started or reached.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", MultiLine::new(.0))]
pub struct ConnectError(String);

cogwork_text::debug_as_display!(ConnectError);

impl FileFlow {
    /// Starts the servers of tools that the file and its subflows name, and connects to those over
    /// HTTP. Call this before a run, also before one that is resumed; it does nothing if the files
    /// name no servers. A run without it fails at the first node with such a tool.
    ///
    /// The servers are stopped when the flow is dropped.
    ///
    /// # Errors
    ///
    /// Returns an error if a server can't be started or reached, or if it doesn't have a tool that
    /// the file names. It contains no values from the environment.
    pub async fn connect(&self) -> Result<(), ConnectError> {
        #[cfg(feature = "mcp")]
        // Side by side, because a server may take seconds to start.
        try_join_all(self.servers.iter().map(McpTools::connect))
            .await
            .map_err(|error| ConnectError(self.secrets.hide(&error.to_string())))?;

        Ok(())
    }

    /// Returns the flow.
    pub fn flow(&self) -> &Flow<FlowState> {
        &self.flow
    }

    /// Returns the first node that only works in a run with a journal: it may ask for approvals, or
    /// wait for answers in several items or branches at the same time.
    pub fn needs_journal(&self) -> Option<&str> {
        self.needs_journal.as_deref()
    }

    /// Returns which answers a run may have to wait for, for programs where nobody can give them.
    pub fn waits(&self) -> Option<String> {
        if let Some(node) = self.needs_journal() {
            let node = Name(node);
            return Some(format!("the node `{node}` may have to wait for answers"));
        }

        let graph = self.flow.graph();
        let events = graph.events();
        let known = NameList::and(&events);
        (!events.is_empty()).then(|| format!("the flow waits for answers to {known}"))
    }

    /// Returns a SHA-256 digest of all that was read: the file and its subflows, with the values of
    /// their variables. Comments and each `api_key` make no difference.
    pub fn digest(&self) -> [u8; 32] {
        self.digest
    }

    /// Returns whether the file only works in its folder: it names other files, or servers of tools,
    /// which are started there.
    pub fn names_files(&self) -> bool {
        self.names_files
    }

    /// Returns the answer of the flow after a run: the filled `answer` of the file, or the last
    /// output.
    ///
    /// # Errors
    ///
    /// Returns an error if the answer would exceed [`Template::MAX_FILLED`] bytes.
    pub fn answer(&self, state: &FlowState) -> Result<Output, TemplateError> {
        let what = format!("the `answer` of the flow `{}`", Name(self.flow.name()));
        self.answer.fill_as(&what, state)
    }

    /// Replaces each value that the file took from the environment with `${NAME}`. Use it for
    /// everything that is shown about a run. The errors of the flow's clients are already without
    /// these values, in journals, too. The reasons of waits may contain them, and so may outputs,
    /// because a model may repeat its prompt.
    ///
    /// A value is found [in any spelling](cogwork_text::Mask). Any part of it of at least eight
    /// characters is also found, and so are the pieces of at least four bytes between `/`, `?`,
    /// `#`, `@`, `:`, `&` and `=`. Values of fewer than 4 bytes are not replaced, and neither are
    /// the scheme, host and port of an HTTP address.
    pub fn hide_secrets(&self, text: &str) -> String {
        self.secrets.hide(text)
    }

    /// Returns a function that does the same as [`hide_secrets`](Self::hide_secrets), and that may
    /// outlive the flow without keeping its clients and memories.
    pub fn hider(&self) -> impl Fn(&str) -> String + Send + Sync + use<> {
        let secrets = self.secrets.clone();
        move |text| secrets.hide(text)
    }
}

impl fmt::Debug for FileFlow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileFlow")
            .field("name", &self.flow.name())
            .finish_non_exhaustive()
    }
}
