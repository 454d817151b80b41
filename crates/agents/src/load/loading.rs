use std::collections::HashMap;
use std::sync::Arc;

use cogwork_flow::Flow;
use cogwork_text::files::{FileId, Folder};
use cogwork_tools::Tools;
use serde_json::Value as Json;

use crate::memory::{Store, StoreKey};
use crate::yaml::Secrets;
use crate::{FileProblem, FlowState, Loader, Template};

/// The maximum number of nodes of a flow, including its subflows.
pub(super) const MAX_NODES: usize = 2_000;

/// The state of loading a file and the files it names.
pub(crate) struct Loading<'l> {
    pub(super) loader: &'l Loader,
    pub(super) schema: Json,
    pub(super) secrets: Secrets,
    pub(super) problems: Vec<FileProblem>,
    /// The files that are being read, the outermost first.
    pub(super) open: Vec<OpenFile>,
    pub(super) files: usize,
    pub(super) nodes: usize,
    /// Whether a node has a model that can be replaced.
    pub(super) has_models: bool,
    /// The servers that the files name, which are not started.
    #[cfg(feature = "mcp")]
    pub(super) servers: Vec<cogwork_tools::mcp::McpTools>,
    /// The memories that agents can share.
    pub(super) stores: HashMap<StoreKey, Arc<Store>>,
}

/// A file that is being read.
pub(super) struct OpenFile {
    pub(super) id: FileId,
    pub(super) name: String,
}

/// The origin of a text.
#[derive(Clone)]
pub(crate) struct Source {
    /// The name used in messages.
    pub(super) name: Arc<str>,
    /// The folder of the files that it may name; `None` for a text that is not from a file.
    pub(super) folder: Option<Folder>,
    /// The tools that its nodes can name.
    pub(super) tools: Tools,
    /// Whether the file names servers whose settings have problems, so that the names of their tools
    /// are unknown.
    pub(super) has_unknown_tools: bool,
}

impl<'l> Loading<'l> {
    pub(crate) fn new(loader: &'l Loader) -> Self {
        Self {
            loader,
            schema: loader.schema(),
            secrets: Secrets::default(),
            problems: Vec::new(),
            open: Vec::new(),
            files: 0,
            nodes: 0,
            has_models: false,
            #[cfg(feature = "mcp")]
            servers: Vec::new(),
            stores: HashMap::new(),
        }
    }
}

/// A flow and its answer.
pub(crate) struct Assembled {
    pub(crate) flow: Flow<FlowState>,
    pub(crate) answer: Template,
}

/// Flows that run side by side, by the ids of their nodes, and their answer.
pub(crate) struct SideBySide {
    pub(crate) flows: Vec<(String, Flow<FlowState>)>,
    pub(crate) answer: Template,
}
