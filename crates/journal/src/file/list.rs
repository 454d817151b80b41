//! Reading what runs there are, without taking them.

use std::fs::File;
use std::io::ErrorKind;
use std::path::Path;
use std::time::UNIX_EPOCH;

use super::read::{Lines, cannot_read};
use super::{ENDING, FileStore};
use crate::summary::Standing;
use crate::{RunStatus, RunSummary, StoreError};

impl FileStore {
    pub(super) fn read_all(&self) -> Result<Vec<RunSummary>, StoreError> {
        let failed = |error| cannot_read(&self.folder, error);
        let folder = match std::fs::read_dir(&self.folder) {
            Ok(folder) => folder,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        };
        let mut runs = Vec::new();
        for file in folder {
            let name = file.map_err(failed)?.file_name();
            if let Some(stem) = name.to_string_lossy().strip_suffix(ENDING) {
                runs.push(self.summary(&self.folder.join(&name), stem));
            }
        }
        runs.sort_by(|one: &RunSummary, other| one.run_id.cmp(&other.run_id));
        Ok(runs)
    }

    fn summary(&self, path: &Path, stem: &str) -> RunSummary {
        let mut standing = Standing::default();
        let file = File::open(path).map_err(|error| cannot_read(path, error));
        let header = file.as_ref().map_err(Clone::clone).and_then(|file| {
            let mut lines = Lines::of(path, file, self.max_line);
            Ok((lines.header()?, lines))
        });
        let damaged = |error: StoreError| RunStatus::Damaged { error: error.to_string() };
        let (header, mut lines) = match header {
            Ok(read) => read,
            Err(error) => {
                let (run_id, status) = (stem.to_owned(), damaged(error));
                return RunSummary { run_id, flow: String::new(), started: UNIX_EPOCH, entries: 0, status };
            }
        };
        let problem = loop {
            match lines.entry() {
                Ok(Some(entry)) => drop(standing.add(&entry)),
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let summary = standing.summary(header);
        match problem {
            None => summary,
            Some(error) => RunSummary { status: damaged(error), ..summary },
        }
    }
}
