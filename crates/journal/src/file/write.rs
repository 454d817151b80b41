//! Writes the file of a run.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use async_trait::async_trait;
use cogwork_text::files::LockFile;
use serde::Serialize;

use super::{Files, RunFolder};
use crate::StoreError;
use crate::behind::{Job, Write};
use crate::header::Header;
use crate::line::{self, Joins, Line};
use crate::time::now;

impl RunFolder {
    /// Replaces the file, or creates it: after a crash, either the old or the new one is there.
    pub(super) fn replace(&self, header: &Header, entries: &[Line]) -> Result<File, StoreError> {
        let mut lines = Vec::new();
        self.files.add(&mut lines, header, Joins::Nothing)?;

        let Files {
            lines: name, new, ..
        } = &self.files;
        let path = self.folder.path_of(new);
        let failed = |error: io::Error| cannot_write(&path, error);
        let file = self.folder.temporary_named(name, new);
        let mut file = file.map_err(|error| failed(error.into()))?;

        for Line { entry, at } in entries {
            // The file only gets its name once it is completely on disk.
            self.files.add(&mut lines, &(at, entry), Joins::Nothing)?;
            if lines.len() > BUFFERED {
                file.write_all(&lines).map_err(failed)?;
                lines.clear();
            }
        }

        file.write_all(&lines).map_err(failed)?;
        if self.files.sync {
            file.file().sync_all().map_err(failed)?;
        }

        let file = file
            .put_in_place()
            .map_err(|error| cannot_write(&self.files.path, error.into()))?;
        if self.files.sync {
            self.sync_folder()?;
        }

        Ok(file)
    }

    pub(super) fn sync_folder(&self) -> Result<(), StoreError> {
        self.folder.sync().map_err(|error| {
            let folder = self.folder.path().display();
            StoreError::io(format_args!("{folder}: cannot be synced"), error.into())
        })
    }
}

pub(super) fn cannot_write(path: &Path, error: io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be written", path.display()), error)
}

/// How much of a file is buffered in memory while it is written, in bytes.
const BUFFERED: usize = 1 << 20;

impl Files {
    fn add(
        &self,
        lines: &mut Vec<u8>,
        value: &impl Serialize,
        joins: Joins,
    ) -> Result<(), StoreError> {
        line::append(lines, value, joins, self.max_line, self.path.display())
    }
}

/// Writes a run that is locked.
pub(super) struct Writer {
    pub(super) run: RunFolder,
    pub(super) header: Header,
    pub(super) file: File,
    /// Held until the last line is written.
    pub(super) _lock: LockFile,
}

#[async_trait]
impl Write for Writer {
    fn blocks(&self) -> bool {
        true
    }

    async fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let edit = Job::merged(jobs, Some(now()));

        if let Some(entries) = edit.replacement {
            self.file = self.run.replace(&self.header, &entries)?;
        }

        if !edit.appended.is_empty() {
            self.append(&edit.appended)?;
        }

        Ok(())
    }
}

impl Writer {
    fn append(&mut self, entries: &[Line]) -> Result<(), StoreError> {
        let files = &self.run.files;
        let mut lines = Vec::new();
        let mut joins = Joins::Nothing;

        for Line { entry, at } in entries {
            files.add(&mut lines, &(at, entry), joins)?;
            joins = Joins::TheLineBefore;
        }

        let failed = |error| cannot_write(&files.path, error);
        self.file.write_all(&lines).map_err(failed)?;

        if files.sync {
            self.file.sync_data().map_err(failed)?;
        }

        Ok(())
    }
}
