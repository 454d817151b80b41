//! The memories that a file names.

#[cfg(feature = "recall")]
mod notes_file;

use std::path::PathBuf;
use std::sync::Arc;

use cogwork_text::files::Error;
use cogwork_thinking::SettingProblem;
use cogwork_thinking::memory::{Blackboard, InMemory, Memory, Recall, RecallSettings};
use schemars::JsonSchema;
use serde::Deserialize;

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
        let store: Arc<dyn Memory> = match (self.r#type, file) {
            (_, Some(path)) => in_file(path),
            (Kind::Blackboard, None) => Arc::new(Blackboard::from_iter(self.texts)),
            (_, None) => Arc::new(InMemory::from_iter(self.texts)),
        };
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
            return problem(
                "type",
                "this program was built without the feature `recall` of cogwork-agents; expected another type",
            );
        }

        let folder = folder.real_path().map_err(of_file)?;
        Ok(Some(folder.join(name)))
    }
}

#[cfg(feature = "recall")]
fn in_file(path: PathBuf) -> Arc<dyn Memory> {
    Arc::new(notes_file::NotesFile::new(path))
}

#[cfg(not(feature = "recall"))]
fn in_file(_: PathBuf) -> Arc<dyn Memory> {
    // Its settings have been refused.
    Arc::new(InMemory::new())
}
