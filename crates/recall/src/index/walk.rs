//! Finds the files of a folder.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use cogwork_text::files::{Error, Folder};

use crate::RecallError;

/// The maximum depth of folders in folders.
const DEPTH: usize = 32;

/// The extensions of the files to find, without the dot. Case is ignored.
const EXTENSIONS: [&str; 2] = ["md", "txt"];

/// The maximum number of files.
const MAX_FILES: usize = 10_000;

/// The maximum size of a file in bytes.
const MAX_FILE: u64 = 1 << 20;

/// A file that was found.
pub(super) struct File {
    place: PathBuf,
    /// The path in the folder of the walk, with slashes.
    pub(super) path: String,
    /// Whether the path is exact. Otherwise, several files could have it.
    is_utf8: bool,
}

impl File {
    fn new(folder: &Path, place: PathBuf) -> Self {
        let inside = place.strip_prefix(folder).unwrap_or(&place);
        // The same on every platform, because it is the name of the source.
        let parts: Vec<_> = inside.iter().map(OsStr::to_string_lossy).collect();

        Self {
            path: parts.join("/"),
            is_utf8: inside.to_str().is_some(),
            place,
        }
    }

    /// Returns the text, or why it cannot be indexed.
    pub(super) fn read(&self) -> Result<String, String> {
        if !self.is_utf8 {
            return Err("its name is not UTF-8".to_owned());
        }

        let file = Folder::of_file(&self.place);
        let read = file.and_then(|(folder, name)| folder.read_text_file(&name, MAX_FILE));
        read.map_err(|error| error.to_string())
    }
}

/// Returns the files, sorted by path.
pub(super) fn files(folder: &Path) -> Result<Vec<File>, RecallError> {
    let place = folder.display().to_string();
    let failed = |error| RecallError::File {
        place: place.clone(),
        source: Error::Io(error),
    };

    let mut files = Vec::new();
    let mut levels = vec![(folder.to_owned(), 0)];
    while let Some((level, depth)) = levels.pop() {
        for entry in fs::read_dir(level).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let kind = entry.file_type().map_err(failed)?;
            // Hidden folders, such as that of git, have texts that nobody wrote to be found.
            if entry.file_name().to_string_lossy().starts_with('.') {
                continue;
            }

            // A link is neither.
            let path = entry.path();
            if kind.is_dir() && depth < DEPTH {
                levels.push((path, depth + 1));
            } else if kind.is_file() && is_wanted(&path) {
                files.push(File::new(folder, path));
            }

            if files.len() > MAX_FILES {
                return Err(RecallError::TooManyFiles {
                    place,
                    most: MAX_FILES,
                });
            }
        }
    }

    // The order of a folder differs between file systems.
    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn is_wanted(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|found| {
        EXTENSIONS
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(found))
    })
}
