use std::path::PathBuf;

use cogwork_files::Folder;

use crate::folder::StoreFolder;

/// The files of a run, and how they are written.
#[derive(Debug, Clone)]
pub(super) struct Files {
    pub(super) run_id: String,
    pub(super) location: StoreFolder,
    /// The path of the file with the lines, for messages.
    pub(super) path: PathBuf,
    /// The name of that file.
    pub(super) lines: String,
    pub(super) lock: String,
    /// The file that replaces the lines once it is complete. Its name is fixed, so that leftovers
    /// of a crash are found.
    pub(super) new: String,
    pub(super) sync: bool,
    pub(super) max_line: usize,
}

/// The files of a run and their folder, which is open.
#[derive(Clone)]
pub(super) struct RunFolder {
    pub(super) files: Files,
    pub(super) folder: Folder,
}
