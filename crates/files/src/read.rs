use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;

use crate::{Access, Error, Folder};

/// Reads an open file to its end, at most `most` bytes.
///
/// # Errors
///
/// When there is more, or the file cannot be read.
pub fn read(file: &File, most: u64) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;

    if bytes.len() as u64 > most {
        return Err(Error::TooLarge { most });
    }

    Ok(bytes)
}

/// Reads an open file to its end, as text of at most `most` bytes.
///
/// # Errors
///
/// When there is more, the file is not UTF-8, or it cannot be read.
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
    /// When there is no such file, the name stands for anything else, the file is larger, or it cannot be read.
    pub fn read_file(&self, name: impl AsRef<OsStr>, most: u64) -> Result<Vec<u8>, Error> {
        read(&self.open_file(name, Access::Read)?, most)
    }

    /// Reads a regular file as text of at most `most` bytes.
    ///
    /// # Errors
    ///
    /// As of [`read_file`](Self::read_file), and when the file is not UTF-8.
    pub fn read_text_file(&self, name: impl AsRef<OsStr>, most: u64) -> Result<String, Error> {
        read_text(&self.open_file(name, Access::Read)?, most)
    }
}
