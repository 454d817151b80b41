//! Where the database is.

use std::fmt;
use std::fs::{self, DirBuilder};
use std::io;
use std::path::{Path, PathBuf};

use cogwork_files::{Access, Folder};
use cogwork_text::Escaped;

use crate::store::StoreError;

/// The name of the database in its folder.
const FILE: &str = "sessions.sqlite";

/// A database file that existed when the server was started.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    identity: Identity,
}

impl Place {
    /// Creates the folder and the file if they don't exist, for the current user only.
    pub(super) fn in_folder(folder: &Path) -> Result<Self, StoreError> {
        create_folder(folder).map_err(|error| failed(folder, "created", &error))?;

        // SQLite refuses a path with symbolic links, to which folders of users often lead.
        let folder = fs::canonicalize(folder).map_err(|error| failed(folder, "found", &error))?;
        let path = folder.join(FILE);
        create_file(&folder).map_err(|error| failed(&path, "created", &error))?;

        let identity = Identity::of(&path).map_err(|error| failed(&path, "read", &error))?;
        Ok(Self { path, identity })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Checks that the path still leads to the file that was opened.
    pub(super) fn check(&self) -> Result<(), StoreError> {
        if Identity::of(&self.path).is_ok_and(|identity| identity == self.identity) {
            return Ok(());
        }

        let path = Escaped::new(self.path.display());
        Err(StoreError::new(format_args!(
            "the database of sessions `{path}` was removed or replaced; restart the server"
        )))
    }
}

fn failed(path: &Path, what: &str, error: &dyn fmt::Display) -> StoreError {
    let path = Escaped::new(path.display());
    StoreError::new(format_args!("`{path}` cannot be {what}: {error}"))
}

fn create_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);

    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);

    builder.create(folder)
}

/// Creates an empty file unless there is one. SQLite gives its other files the same mode.
fn create_file(folder: &Path) -> Result<(), cogwork_files::Error> {
    let folder = Folder::open(folder)?;
    folder.open_or_create(FILE, Access::Append).map(drop)
}

/// Distinguishes a file from another one at the same path.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    #[cfg(unix)]
    device: u64,
    #[cfg(unix)]
    number: u64,
}

impl Identity {
    #[cfg(unix)]
    fn of(path: &Path) -> io::Result<Self> {
        use std::os::unix::fs::MetadataExt;

        let metadata = fs::symlink_metadata(path)?;
        Ok(Self {
            device: metadata.dev(),
            number: metadata.ino(),
        })
    }

    /// Elsewhere, a file that is open cannot be removed.
    #[cfg(not(unix))]
    fn of(path: &Path) -> io::Result<Self> {
        fs::symlink_metadata(path).map(|_| Self {})
    }
}
