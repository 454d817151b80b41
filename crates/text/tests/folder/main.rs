//! Opening, creating and replacing files in a folder, and the errors.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod locking;
mod opening;
mod replacing;
mod shown;

#[cfg(unix)]
mod beneath;
#[cfg(unix)]
mod obstacles;
#[cfg(unix)]
#[path = "../support/obstacles.rs"]
mod support;

use std::path::Path;

use cogwork_text::files::Folder;
use tempfile::TempDir;

/// A folder on the disk that is gone after the test.
struct Scratch {
    disk: TempDir,
    folder: Folder,
}

impl Scratch {
    fn new() -> Self {
        let disk = tempfile::tempdir().unwrap();
        let folder = Folder::open(disk.path()).unwrap();
        Self { disk, folder }
    }

    fn path(&self) -> &Path {
        self.disk.path()
    }

    fn text(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path().join(name), text).unwrap();
    }

    fn names(&self) -> Vec<String> {
        let names = self.folder.names().unwrap();
        let mut names: Vec<_> = names
            .iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();

        names
    }
}
