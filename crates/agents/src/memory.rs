//! The memories that a file names. They are created on first use, so checking a file creates
//! nothing on disk.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cogwork_text::files::Error;
use cogwork_thinking::memory::{
    Blackboard, Found, InMemory, Memory, MemoryError, Recall, RecallSettings,
};
use cogwork_thinking::{SettingProblem, async_trait};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::OnceCell;

use crate::Making;

/// The memory of an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct MemorySettings {
    /// The kind of store.
    r#type: Kind,
    /// Agents whose memories have the same type and name share a store, with the settings of the first. Default: a separate store.
    name: Option<String>,
    /// For the type `file`: the file, in the folder of this file or below. It is created when the memory is first used.
    #[schemars(extend("x-environment" = false))]
    file: Option<String>,
    /// The texts in the store at the start. Not for the type `file`. Default: none.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    texts: Vec<String>,
    /// How the agent uses the memory.
    #[serde(default)]
    recall: RecallSettings,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    /// Lost when the program ends, also for a run that is resumed later; searched by words.
    InMemory,
    /// Kept in a SQLite file; searched by words. Needs the feature `recall` of the library.
    File,
    /// Lost when the program ends, also for a run that is resumed later; returns the newest texts.
    Blackboard,
}

/// Why there is no memory in a file.
const NO_FILES: &str =
    "this program was built without the feature `recall` of cogwork-agents; expected another type";

/// The key of a store. Agents with the same key share a store.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum StoreKey {
    Named(Kind, String),
    File(PathBuf),
}

impl MemorySettings {
    /// Returns the memory, or reports what is wrong with its settings and returns `None`.
    pub(crate) fn recall(self, making: &mut Making<'_, '_>) -> Option<Recall> {
        let file = match self.place(making) {
            Ok(file) => file,
            Err(problem) => {
                making.report(problem.below("memory"));
                return None;
            }
        };

        // Two stores over one file would not see what the other one remembers.
        let key = match (&file, self.name) {
            (Some(path), _) => Some(StoreKey::File(path.clone())),
            (None, name) => name.map(|name| StoreKey::Named(self.r#type, name)),
        };
        let store = Arc::new(Store {
            kind: self.r#type,
            file,
            texts: self.texts,
            opened: OnceCell::new(),
        });
        let store = match key {
            Some(key) => Arc::clone(making.loading.stores.entry(key).or_insert(store)),
            None => store,
        };
        Some(Recall::from(store).with_settings(self.recall))
    }

    /// Returns the path of the file, which may not exist yet, if the store has one.
    fn place(&self, making: &Making<'_, '_>) -> Result<Option<PathBuf>, SettingProblem> {
        let problem = |setting: &str, message: &str| Err(SettingProblem::new(message).at(setting));
        let file = match (self.r#type, &self.file) {
            (Kind::File, Some(file)) => file,
            (Kind::File, None) => {
                return problem("type", "a memory of this type needs a file; add `file`");
            }
            (_, None) => return Ok(None),
            (_, Some(_)) => {
                return problem("file", "a memory of this type has no file; remove `file`");
            }
        };

        let of_file = |error: Error| SettingProblem::new(error).at("file");
        let (folder, name) = making.beside(file).map_err(|problem| problem.at("file"))?;
        // The file may be missing, but a folder or a link in its place is refused now, not in the run.
        folder.has_file(&name).map_err(of_file)?;
        if !self.texts.is_empty() {
            let message = "a memory of this type reads its texts from the file; remove `texts`";
            return problem("texts", message);
        }
        if cfg!(not(feature = "recall")) {
            return problem("type", NO_FILES);
        }

        let folder = folder.real_path().map_err(of_file)?;
        Ok(Some(folder.join(name)))
    }
}

pub(crate) struct Store {
    kind: Kind,
    file: Option<PathBuf>,
    texts: Vec<String>,
    opened: OnceCell<Arc<dyn Memory>>,
}

impl Store {
    async fn opened(&self) -> Result<&Arc<dyn Memory>, MemoryError> {
        self.opened.get_or_try_init(|| self.open()).await
    }

    async fn open(&self) -> Result<Arc<dyn Memory>, MemoryError> {
        let store: Arc<dyn Memory> = match (self.kind, &self.file) {
            (_, Some(path)) => open_file(path).await?,
            (Kind::Blackboard, None) => Arc::new(Blackboard::new()),
            (_, None) => Arc::new(InMemory::new()),
        };
        // Texts of the file come first, so a run never answers without them.
        for text in &self.texts {
            store.add(text).await?;
        }

        Ok(store)
    }
}

#[cfg(feature = "recall")]
async fn open_file(path: &Path) -> Result<Arc<dyn Memory>, MemoryError> {
    Ok(Arc::new(cogwork_recall::Notes::open(path).await?))
}

#[cfg(not(feature = "recall"))]
async fn open_file(_: &Path) -> Result<Arc<dyn Memory>, MemoryError> {
    Err(MemoryError::new(NO_FILES))
}

#[async_trait]
impl Memory for Store {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        self.opened().await?.search(query, top_k, threshold).await
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.opened().await?.add(text).await
    }
}
