use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;

use super::{Access, Error, Folder};

/// Reads a whole open file of at most `most` bytes.
///
/// # Errors
///
/// Returns an error if the file is larger or cannot be read.
pub fn read(file: &File, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;

    if bytes.len() as u64 > most {
        return Err(Error::TooLarge { most });
    }

    Ok(bytes)
}

/// Reads a whole open file of at most `most` bytes as text.
///
/// # Errors
///
/// Returns an error if the file is larger, isn't UTF-8 or cannot be read.
pub fn read_text(file: &File, most: u64) -> Result<String, Error> {
    String::from_utf8(read(file, most)?).map_err(|error| {
        let whole = error.utf8_error().valid_up_to();
        let before = error.as_bytes().iter().take(whole);
        Error::NotText {
            line: before.filter(|byte| **byte == b'\n').count() + 1,
        }
    })
}

impl Folder {
    /// Reads a regular file of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist, the name belongs to anything other than a
    /// regular file, or the file is larger or cannot be read.
    pub fn read_file(&self, name: impl AsRef<OsStr>, most: u64) -> Result<Vec<u8>, Error> {
        read(&self.open_file(name, Access::Read)?, most)
    }

    /// Reads a regular file of at most `most` bytes as text.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`read_file`](Self::read_file), or an error if the file isn't UTF-8.
    pub fn read_text_file(&self, name: impl AsRef<OsStr>, most: u64) -> Result<String, Error> {
        read_text(&self.open_file(name, Access::Read)?, most)
    }
}
