use std::collections::HashMap;
use std::sync::Arc;

use cogwork_files::{FileId, Folder};
use cogwork_flow::Flow;

use crate::memory::{Store, StoreKey};
use crate::yaml::Secrets;
use crate::{FileProblem, FlowState, Loader, Template};

/// The nodes of a flow, with those of all its subflows.
pub(super) const MAX_NODES: usize = 2_000;

/// One load: of a file, and of those it names.
pub(crate) struct Loading<'l> {
    pub(super) loader: &'l Loader,
    pub(super) secrets: Secrets,
    pub(super) problems: Vec<FileProblem>,
    /// The files that are being read, the outermost first.
    pub(super) open: Vec<OpenFile>,
    pub(super) files: usize,
    pub(super) nodes: usize,
    /// The memories that several agents may share.
    pub(super) stores: HashMap<StoreKey, Arc<Store>>,
}

/// A file that is being read.
pub(super) struct OpenFile {
    pub(super) id: FileId,
    pub(super) name: String,
}

/// Where a text comes from.
#[derive(Clone)]
pub(crate) struct Source {
    /// As people named it.
    pub(super) name: Arc<str>,
    /// The folder of the files that it may name; nothing for a text that does not come from a file.
    pub(super) folder: Option<Folder>,
}

impl<'l> Loading<'l> {
    pub(crate) fn new(loader: &'l Loader) -> Self {
        Self {
            loader,
            secrets: Secrets::default(),
            problems: Vec::new(),
            open: Vec::new(),
            files: 0,
            nodes: 0,
            stores: HashMap::new(),
        }
    }
}

/// A flow and what it says at its end.
pub(crate) struct Assembled {
    pub(crate) flow: Flow<FlowState>,
    pub(crate) answer: Template,
}
