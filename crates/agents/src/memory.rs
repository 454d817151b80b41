//! The memories that a file names.

use std::path::PathBuf;
use std::sync::Arc;

use cogwork_thinking::SettingProblem;
use cogwork_thinking::memory::{Blackboard, InMemory, Memory, Recall, RecallSettings};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::Making;

/// The memory of an agent.
#[derive(Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[schemars(extend("x-tag" = "type", "x-noun" = "memory type"))]
pub(crate) enum MemorySettings {
    /// Lost when the program ends, also for a run that is resumed later; searched by words.
    InMemory(TextSettings),
    /// Kept in a SQLite file; searched by words. Needs the feature `recall` of the library.
    File(FileSettings),
    /// Lost when the program ends, also for a run that is resumed later; returns the newest texts.
    Blackboard(TextSettings),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct TextSettings {
    /// Agents whose memories have the same type and name share a store, with the texts of the first. Default: a separate store.
    name: Option<String>,
    /// The texts in the store at the start. Default: none.
    #[serde(default)]
    #[schemars(length(max = 1000))]
    texts: Vec<String>,
    /// How the agent uses the memory.
    #[serde(default)]
    recall: RecallSettings,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct FileSettings {
    /// The file, in the folder of this file or below. It is created when the memory is first used.
    #[schemars(extend("x-environment" = false))]
    file: String,
    /// How the agent uses the memory.
    #[serde(default)]
    recall: RecallSettings,
}

/// The key of a store. Agents with the same key share a store.
#[derive(PartialEq, Eq, Hash)]
pub(crate) enum StoreKey {
    InMemory(String),
    Blackboard(String),
    File(PathBuf),
}

impl MemorySettings {
    /// Returns the memory, or reports what is wrong with its settings and returns `None`.
    pub(crate) fn recall(self, making: &mut Making<'_, '_>) -> Option<Recall> {
        let (key, store, recall): (_, Arc<dyn Memory>, _) = match self {
            Self::InMemory(settings) => (
                settings.name.map(StoreKey::InMemory),
                Arc::new(InMemory::from_iter(settings.texts)),
                settings.recall,
            ),
            Self::Blackboard(settings) => (
                settings.name.map(StoreKey::Blackboard),
                Arc::new(Blackboard::from_iter(settings.texts)),
                settings.recall,
            ),
            Self::File(settings) => {
                let store = in_file(making, &settings.file);
                let store = store.map_err(|problem| making.report(problem.at("memory.file")));
                let (path, store) = store.ok()?;
                (Some(StoreKey::File(path)), store, settings.recall)
            }
        };

        // Two stores over one file would not see what the other one remembers.
        let store = match key {
            Some(key) => Arc::clone(making.loading.stores.entry(key).or_insert(store)),
            None => store,
        };
        Some(Recall::from(store).with_settings(recall))
    }
}

/// Returns the memory in a file, which may not exist yet, and its path.
#[cfg(feature = "recall")]
fn in_file(
    making: &mut Making<'_, '_>,
    file: &str,
) -> Result<(PathBuf, Arc<dyn Memory>), SettingProblem> {
    let (folder, name) = making.beside(file)?;
    // The file may be missing, but a folder or a link in its place is refused now, not in the run.
    folder.has_file(&name).map_err(SettingProblem::new)?;
    let path = folder.real_path().map_err(SettingProblem::new)?.join(name);

    let notes = cogwork_recall::Notes::at(&path);
    Ok((path, Arc::new(notes)))
}

#[cfg(not(feature = "recall"))]
fn in_file(_: &mut Making<'_, '_>, _: &str) -> Result<(PathBuf, Arc<dyn Memory>), SettingProblem> {
    let message = "this program was built without the feature `recall` of cogwork-agents; expected a memory of another type";
    Err(SettingProblem::new(message))
}
