//! Lists runs without locking them.

use std::ffi::OsStr;
use std::time::UNIX_EPOCH;

use cogwork_text::files::{Access, Folder};

use super::read::{Lines, cannot_read};
use super::{ENDING, FileStore};
#[cfg(feature = "sqlite")]
use crate::Store;
#[cfg(feature = "sqlite")]
use crate::behind::blocking;
use crate::summary::Standing;
use crate::{RunStatus, RunSummary, StoreError};

impl FileStore {
    pub(super) fn read_all(&self) -> Result<Vec<RunSummary>, StoreError> {
        let Some(folder) = self.location.open()? else {
            return Ok(Vec::new());
        };

        let names = folder
            .names()
            .map_err(|error| cannot_read(self.location.path(), error.into()))?;

        let mut runs = Vec::new();
        for name in names {
            if let Some(stem) = name.to_string_lossy().strip_suffix(ENDING) {
                runs.push(self.summary(&folder, &name, stem));
            }
        }

        runs.sort_by(|one: &RunSummary, other| one.run_id.cmp(&other.run_id));
        Ok(runs)
    }

    /// Returns the run with this id, if it exists.
    #[cfg(feature = "sqlite")]
    pub(crate) async fn run(&self, run_id: &str) -> Result<Option<RunSummary>, StoreError> {
        let files = self.files(run_id);
        let store = self.clone();
        blocking(store.place(), move || store.read_one(&files.lines)).await
    }

    #[cfg(feature = "sqlite")]
    fn read_one(&self, name: &str) -> Result<Option<RunSummary>, StoreError> {
        let Some(folder) = self.location.open()? else {
            return Ok(None);
        };

        let exists = folder.has_file(name);
        let exists = exists.map_err(|error| cannot_read(self.location.path(), error.into()))?;
        let stem = name.strip_suffix(ENDING).unwrap_or(name);
        Ok(exists.then(|| self.summary(&folder, OsStr::new(name), stem)))
    }

    fn summary(&self, folder: &Folder, name: &OsStr, stem: &str) -> RunSummary {
        let path = &self.location.path().join(name);
        let mut standing = Standing::default();
        let file = folder.open_file(name, Access::Read);
        let file = file.map_err(|error| cannot_read(path, error.into()));
        let header = file.as_ref().map_err(Clone::clone).and_then(|file| {
            let mut lines = Lines::of(path, file, self.max_line);
            Ok((lines.header()?, lines))
        });
        let damaged = |error: StoreError| RunStatus::Damaged {
            error: error.to_string(),
        };
        let (header, mut lines) = match header {
            Ok(read) => read,
            Err(error) => {
                let run_id = stem.to_owned();
                let status = damaged(error);
                return RunSummary {
                    run_id,
                    flow: String::new(),
                    fork: None,
                    started: UNIX_EPOCH,
                    updated: None,
                    entries: 0,
                    status,
                };
            }
        };

        let mut updated = Some(header.started);
        let problem = loop {
            match lines.entry() {
                Ok(Some(line)) => {
                    standing.add(&line.entry);
                    updated = line.at;
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };

        let summary = standing.summary(header, updated);
        match problem {
            None => summary,
            Some(error) => RunSummary {
                status: damaged(error),
                ..summary
            },
        }
    }
}
