//! Writing the file of a run.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use cogwork_flow::Entry;
use serde::Serialize;

use crate::StoreError;
use crate::behind::{Job, Write};
use crate::header::Header;
use crate::line::Chain;
use crate::lock::Lock;

/// The files of a run, and how they are written.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) run_id: String,
    pub(super) folder: PathBuf,
    /// The lines.
    pub(super) path: PathBuf,
    pub(super) lock: PathBuf,
    /// What takes the place of the lines when it is whole. One name, so that what a crash left is
    /// written over.
    pub(super) new: PathBuf,
    pub(super) sync: bool,
    pub(super) max_line: usize,
}

impl Files {
    /// Puts a whole file in place of the one that is there, or of none: after a crash there is
    /// either the old or the new.
    pub(super) fn replace(&self, header: &Header, entries: &[Entry]) -> Result<(File, Chain), StoreError> {
        let mut lines = Lines { files: self, chain: Chain::default(), bytes: Vec::new() };
        lines.add(header)?;
        let failed = |error| cannot_write(&self.new, error);
        let mut file = OpenOptions::new()
            .read(true)
            .write(true)
            .create(true)
            .truncate(true)
            .open(&self.new)
            .map_err(failed)?;
        for entry in entries {
            lines.add(entry)?;
            if lines.bytes.len() > BUFFERED {
                file.write_all(&lines.bytes).map_err(failed)?;
                lines.bytes.clear();
            }
        }
        file.write_all(&lines.bytes).map_err(failed)?;
        if self.sync {
            file.sync_all().map_err(failed)?;
        }
        std::fs::rename(&self.new, &self.path).map_err(|error| cannot_write(&self.path, error))?;
        self.sync_folder(&self.folder)?;
        Ok((file, lines.chain))
    }

    /// Makes the folder, if there is none.
    pub(super) fn make_folder(&self) -> Result<(), StoreError> {
        if self.folder.is_dir() {
            return Ok(());
        }
        std::fs::create_dir_all(&self.folder).map_err(|error| {
            StoreError::io(format_args!("{}: the folder cannot be made", self.folder.display()), error)
        })?;
        self.folder.parent().map_or(Ok(()), |parent| self.sync_folder(parent))
    }

    /// A new or renamed file is only safe when its folder is.
    fn sync_folder(&self, folder: &Path) -> Result<(), StoreError> {
        // Elsewhere a folder cannot be opened as a file, and the rename itself is on record.
        if cfg!(unix) && self.sync {
            let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
            return File::open(folder).and_then(|folder| folder.sync_all()).map_err(|error| {
                StoreError::io(format_args!("{}: cannot be synced", folder.display()), error)
            });
        }
        Ok(())
    }
}

pub(super) fn cannot_write(path: &Path, error: io::Error) -> StoreError {
    StoreError::io(format_args!("{}: cannot be written", path.display()), error)
}

/// How much of a whole file is held in memory while it is written.
const BUFFERED: usize = 1 << 20;

/// Lines to be written.
struct Lines<'a> {
    files: &'a Files,
    chain: Chain,
    bytes: Vec<u8>,
}

impl Lines<'_> {
    fn add(&mut self, object: &impl Serialize) -> Result<(), StoreError> {
        self.chain.append(&mut self.bytes, object, self.files.max_line, self.files.path.display())
    }
}

/// The open file of a run.
pub(super) struct Writer {
    pub(super) files: Files,
    pub(super) header: Header,
    pub(super) file: File,
    pub(super) chain: Chain,
    /// The run is ours until the last line is written.
    pub(super) _lock: Lock,
}

impl Write for Writer {
    fn write(&mut self, jobs: Vec<Job>) -> Result<(), StoreError> {
        let (replacement, appended) = Job::settled(jobs);
        if let Some(entries) = replacement {
            (self.file, self.chain) = self.files.replace(&self.header, &entries)?;
        }
        if appended.is_empty() {
            return Ok(());
        }
        let mut lines = Lines { files: &self.files, chain: self.chain, bytes: Vec::new() };
        for entry in &appended {
            lines.add(entry)?;
        }
        let Lines { chain, bytes, .. } = lines;
        self.file.write_all(&bytes).map_err(|error| cannot_write(&self.files.path, error))?;
        self.chain = chain;
        if self.files.sync {
            self.file.sync_data().map_err(|error| cannot_write(&self.files.path, error))?;
        }
        Ok(())
    }
}
