//! Writes the file of a run.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use cogwork_text::files::LockFile;
use serde::Serialize;

use super::{Files, RunFolder};
use crate::StoreError;
use crate::behind::{Job, Write};
use crate::header::Header;
use crate::line::{Chain, Joins, Line, Marks};
use crate::time::now;

/// The open file of a run.
pub(super) struct Written {
    pub(super) file: File,
    /// The checksums so far.
    pub(super) chain: Chain,
}

impl RunFolder {
    /// Replaces the file, or creates it: after a crash, either the old or the new one is there.
    pub(super) fn replace(&self, header: &Header, entries: &[Line]) -> Result<Written, StoreError> {
        let mut lines = Lines::new(&self.files, Chain::default());
        lines.add(header, Marks::NONE)?;

        let Files {
            lines: name, new, ..
        } = &self.files;
        let path = self.folder.path_of(new);
        let failed = |error: io::Error| cannot_write(&path, error);
        let file = self.folder.temporary_named(name, new);
        let mut file = file.map_err(|error| failed(error.into()))?;

        for Line { entry, at } in entries {
            // The file only gets its name once it is completely on disk.
            let joins = Joins::Nothing;
            lines.add(entry, Marks { at: *at, joins })?;
            if lines.bytes.len() > BUFFERED {
                file.write_all(&lines.bytes).map_err(failed)?;
                lines.bytes.clear();
            }
        }

        file.write_all(&lines.bytes).map_err(failed)?;
        if self.files.sync {
            file.file().sync_all().map_err(failed)?;
        }

        let file = file
            .put_in_place()
            .map_err(|error| cannot_write(&self.files.path, error.into()))?;
        if self.files.sync {
            self.sync_folder()?;
        }

        Ok(Written {
            file,
            chain: lines.chain,
        })
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

/// Serialised lines.
struct Lines<'a> {
    files: &'a Files,
    chain: Chain,
    bytes: Vec<u8>,
}

impl<'a> Lines<'a> {
    fn new(files: &'a Files, chain: Chain) -> Self {
        Self {
            files,
            chain,
            bytes: Vec::new(),
        }
    }

    fn add(&mut self, object: &impl Serialize, marks: Marks) -> Result<(), StoreError> {
        let Files { max_line, path, .. } = self.files;
        self.chain
            .append(&mut self.bytes, object, marks, *max_line, path.display())
    }
}

/// Writes a run that is locked.
pub(super) struct Writer {
    pub(super) run: RunFolder,
    pub(super) header: Header,
    pub(super) written: Written,
    /// Held until the last line is written.
    pub(super) _lock: LockFile,
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let edit = Job::merged(jobs, Some(now()));

        if let Some(entries) = edit.replacement {
            self.written = self.run.replace(&self.header, &entries)?;
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
        let mut lines = Lines::new(files, self.written.chain);
        let mut joins = Joins::Nothing;

        for Line { entry, at } in entries {
            lines.add(entry, Marks { at: *at, joins })?;
            joins = Joins::TheLineBefore;
        }

        let Lines { chain, bytes, .. } = lines;
        let failed = |error| cannot_write(&files.path, error);
        self.written.file.write_all(&bytes).map_err(failed)?;
        self.written.chain = chain;

        if files.sync {
            self.written.file.sync_data().map_err(failed)?;
        }

        Ok(())
    }
}
