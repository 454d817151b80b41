//! Finds the files of a folder.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use cogwork_text::files::{Error, FileKind, Folder};

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
    folder: Folder,
    name: OsString,
    /// The path in the folder of the walk, with slashes.
    path: String,
    /// Whether the path is exact. Otherwise, several files could have it.
    is_utf8: bool,
}

/// A folder to search, and its path in the folder of the walk, which is empty or ends in a slash.
struct Level {
    folder: Folder,
    path: String,
    is_utf8: bool,
    depth: usize,
}

impl File {
    pub(super) fn source(&self, prefix: &str) -> String {
        format!("{prefix}{}", self.path)
    }

    /// Returns the text, or why it cannot be indexed.
    pub(super) fn read(&self) -> Result<String, String> {
        if !self.is_utf8 {
            return Err("its name is not UTF-8".to_owned());
        }

        let read = self.folder.read_text_file(&self.name, MAX_FILE);
        read.map_err(|error| error.to_string())
    }
}

/// Returns the files, sorted by path.
pub(super) fn files(path: &Path) -> Result<Vec<File>, RecallError> {
    let place = path.display().to_string();
    let failed = |source| RecallError::File {
        place: place.clone(),
        source,
    };

    let mut files = Vec::new();
    let mut levels = vec![Level {
        folder: Folder::open(path).map_err(failed)?,
        path: String::new(),
        is_utf8: true,
        depth: 0,
    }];

    while let Some(level) = levels.pop() {
        for name in level.folder.names().map_err(failed)? {
            match entry(&level, name).map_err(failed)? {
                Some(Entry::File(file)) => files.push(file),
                Some(Entry::Folder(folder)) => levels.push(folder),
                None => {}
            }

            if files.len() > MAX_FILES {
                return Err(RecallError::TooManyFiles {
                    place,
                    most: MAX_FILES,
                });
            }
        }
    }

    files.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(files)
}

fn entry(level: &Level, name: OsString) -> Result<Option<Entry>, Error> {
    let shown = name.to_string_lossy();
    if shown.starts_with('.') {
        return Ok(None);
    }

    let path = format!("{}{shown}", level.path);
    let is_utf8 = level.is_utf8 && name.to_str().is_some();
    match level.folder.file_length(&name) {
        Ok(Some(_)) if is_wanted(&name) => Ok(Some(Entry::File(File {
            folder: level.folder.clone(),
            name,
            path,
            is_utf8,
        }))),
        Err(Error::NotAFile {
            found: FileKind::Folder,
        }) if level.depth < DEPTH => Ok(Some(Entry::Folder(Level {
            folder: level.folder.beneath(&name)?,
            path: path + "/",
            is_utf8,
            depth: level.depth + 1,
        }))),
        // Of another type, or removed in the meantime.
        Ok(_) | Err(Error::NotAFile { .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

fn is_wanted(name: &OsStr) -> bool {
    let extension = Path::new(name).extension().and_then(OsStr::to_str);
    extension.is_some_and(|found| {
        EXTENSIONS
            .iter()
            .any(|wanted| wanted.eq_ignore_ascii_case(found))
    })
}

enum Entry {
    File(File),
    Folder(Level),
}
