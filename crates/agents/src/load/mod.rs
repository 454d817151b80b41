//! Turns a file into a flow: reads it, checks it against the schema, creates the nodes, and
//! connects them.

mod files;
mod making;
mod masked;
mod nodes;
#[cfg(feature = "mcp")]
mod servers;
mod tools;
mod wiring;

pub use making::Making;
pub(crate) use nodes::{Assembled, BRANCHES, Graph, NodeIds, SideBySide};
pub(crate) use tools::ServerSettings;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use cogwork_text::files::Folder;
use cogwork_thinking::memory::Memory;
use cogwork_tools::Tools;
use serde_json::Value as Json;
use sha2::{Digest, Sha256};

use crate::memory::StoreKey;
use crate::problems::Problems;
use crate::secrets::Secrets;
use crate::{FileProblem, Loader};

/// The state of loading a file and the files it names.
pub(crate) struct Loading<'l> {
    loader: &'l Loader,
    schema: Json,
    pub(crate) secrets: Secrets,
    /// The text that is being read.
    source: Source,
    /// The problems of texts that have been read.
    problems: Vec<FileProblem>,
    /// The files that are being read, the outermost first.
    open: Vec<PathBuf>,
    /// The number of files so far.
    files: usize,
    nodes: usize,
    /// The digest of what has been read.
    digest: Sha256,
    /// Whether a file names others.
    names_files: bool,
    /// The first node that only works in a run with a journal.
    needs_journal: Option<String>,
    /// The servers that the files name, which are not started.
    #[cfg(feature = "mcp")]
    servers: Vec<cogwork_tools::mcp::McpTools>,
    /// The memories that agents can share.
    pub(crate) stores: HashMap<StoreKey, Arc<dyn Memory>>,
}

/// A text that is being read.
#[derive(Default)]
struct Source {
    /// The folder of the files that it may name; `None` for a text that is not from a file.
    folder: Option<Folder>,
    /// The tools that its nodes can name.
    tools: Tools,
    /// Whether the file names servers whose settings have problems, so that the names of their tools
    /// are unknown.
    has_unknown_tools: bool,
    problems: Problems,
}

impl<'l> Loading<'l> {
    pub(crate) fn new(loader: &'l Loader) -> Self {
        Self {
            loader,
            schema: loader.schema(),
            secrets: Secrets::default(),
            source: Source::default(),
            problems: Vec::new(),
            open: Vec::new(),
            files: 0,
            nodes: 0,
            digest: Sha256::new(),
            names_files: false,
            needs_journal: None,
            #[cfg(feature = "mcp")]
            servers: Vec::new(),
            stores: HashMap::new(),
        }
    }

    /// Adds a problem of the value at a path of the text that is being read.
    fn push(&mut self, path: &str, message: impl Into<String>) {
        self.source.problems.push(path, message);
    }
}

/// Returns the text of a key, which is empty if there is none.
fn text_at<'v>(value: &'v Json, key: &str) -> &'v str {
    value.get(key).and_then(Json::as_str).unwrap_or_default()
}

/// Returns the items of the list of a key.
fn items_at<'v>(value: &'v Json, key: &str) -> &'v [Json] {
    let items = value.get(key).and_then(Json::as_array);
    items.map(Vec::as_slice).unwrap_or_default()
}
