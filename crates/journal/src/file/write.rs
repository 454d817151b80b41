//! Writes the file of a run.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;

use cogwork_files::{FileId, LockFile, Temporary};
use serde::Serialize;

use super::files::{Files, RunFolder};
use crate::StoreError;
use crate::behind::{Job, Write};
use crate::header::Header;
use crate::line::{Chain, Joins, Line, Marks};
use crate::time::now;

/// The open file of a run.
pub(super) struct Written {
    file: File,
    id: FileId,
    /// The checksums so far.
    chain: Chain,
}

impl RunFolder {
    /// Replaces the file, or creates it: after a crash, either the old or the new one is there.
    pub(super) fn replace(&self, header: &Header, entries: &[Line]) -> Result<Written, StoreError> {
        let mut lines = Lines::new(&self.files, Chain::default());
        lines.add(header, Marks::NONE)?;

        let path = self.folder.path_of(&self.files.new);
        let failed = |error: io::Error| cannot_write(&path, error);
        let mut file = self.temporary().map_err(|error| failed(error.into()))?;

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

        self.written(file, lines.chain)
    }

    pub(super) fn sync_folder(&self) -> Result<(), StoreError> {
        self.folder.sync().map_err(|error| {
            let folder = self.folder.path().display();
            StoreError::io(format_args!("{folder}: cannot be synced"), error.into())
        })
    }

    /// Creates a file that can replace the lines, locked like them.
    fn temporary(&self) -> Result<Temporary, cogwork_files::Error> {
        let temporary = self
            .folder
            .temporary_named(&self.files.lines, &self.files.new)?;
        if cfg!(unix) {
            temporary.file().try_lock().map_err(io::Error::from)?;
        }

        Ok(temporary)
    }

    pub(super) fn written(&self, file: File, chain: Chain) -> Result<Written, StoreError> {
        let id = FileId::of(&file).map_err(|error| cannot_write(&self.files.path, error.into()))?;
        Ok(Written { file, id, chain })
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
            // Only the run's own file may be replaced.
            self.check_there()?;
            self.written = self.run.replace(&self.header, &entries)?;
        }

        if !edit.appended.is_empty() {
            self.append(&edit.appended)?;
        }

        // Nothing counts as recorded unless its file can be found.
        self.check_there()
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

    fn check_there(&self) -> Result<(), StoreError> {
        let RunFolder { files, folder } = &self.run;
        let found = folder.id_on_path(&files.lines);
        let found = found.map_err(|error| cannot_write(&files.path, error.into()))?;

        if found == Some(self.written.id) {
            return Ok(());
        }

        Err(StoreError::gone(files.path.display()))
    }
}
