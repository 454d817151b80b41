use std::ffi::OsStr;
use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read};

use super::{Error, Folder};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// For reading.
    Read,
    /// For reading, and writing anywhere.
    Write,
    /// For reading, and appending.
    Append,
}

impl Access {
    pub(super) fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();

        // Records contain replies of models and input of users.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);

        match self {
            Self::Read => options.read(true),
            Self::Write => options.read(true).write(true),
            Self::Append => options.read(true).append(true),
        };

        options
    }
}

impl Folder {
    /// Returns whether a regular file with this name exists; `false` if nothing has this name.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything else, such as a link, a folder or a named
    /// pipe.
    pub fn has_file(&self, name: impl AsRef<OsStr>) -> Result<bool, Error> {
        Ok(self.file_length(name)?.is_some())
    }

    /// Returns the length of a regular file in bytes; `None` if nothing has this name.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`has_file`](Self::has_file).
    pub fn file_length(&self, name: impl AsRef<OsStr>) -> Result<Option<u64>, Error> {
        match fs::symlink_metadata(self.at(name.as_ref())?) {
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata.len())),
            Ok(metadata) => Err(Error::NotAFile {
                found: kind(metadata.file_type()),
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens an existing regular file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist, the name belongs to anything other than a
    /// regular file, or the file cannot be opened.
    pub fn open_file(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        self.open_with(name.as_ref(), &access.options())
    }

    /// Opens a regular file, or creates it if nothing has this name. On Unix, only the current user
    /// can read and write a new file.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything other than a regular file, or the file
    /// cannot be opened or created.
    pub fn open_or_create(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        let mut options = match access {
            Access::Read => Access::Write.options(),
            access => access.options(),
        };
        self.open_with(name.as_ref(), options.create(true))
    }

    fn open_with(&self, name: &OsStr, options: &OpenOptions) -> Result<File, Error> {
        // Opening a pipe waits for its other end, and a device may have side effects.
        self.has_file(name)?;
        Ok(options.open(self.at(name)?)?)
    }

    /// Reads a regular file of at most `most` bytes as text.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist, the name belongs to anything other than a
    /// regular file, or the file is larger, isn't UTF-8 or cannot be read.
    pub fn read_text_file(&self, name: impl AsRef<OsStr>, most: u64) -> Result<String, Error> {
        let file = self.open_file(name, Access::Read)?;
        let mut bytes = Vec::new();
        // One byte more, to know whether the file is longer; its size may change while it is read.
        file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most {
            return Err(Error::TooLarge { most });
        }

        String::from_utf8(bytes).map_err(|error| {
            let whole = error.utf8_error().valid_up_to();
            let before = error.as_bytes().iter().take(whole);
            Error::NotText {
                line: before.filter(|byte| **byte == b'\n').count() + 1,
            }
        })
    }

    /// Removes a file. If the name belongs to a link, the link itself is removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist or cannot be removed.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> Result<(), Error> {
        Ok(fs::remove_file(self.at(name.as_ref())?)?)
    }
}

/// Returns what an entry is that isn't a regular file.
fn kind(entry: FileType) -> &'static str {
    if entry.is_dir() {
        "a folder"
    } else if entry.is_symlink() {
        "a symbolic link"
    } else {
        "a special file"
    }
}
