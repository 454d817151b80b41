use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};

use super::{Access, Error, Folder};

impl Folder {
    /// Replaces the content of a file atomically, or creates the file. After a crash, the file has
    /// either the old or the new content; after an error, the old one. A replaced file keeps its
    /// permissions; on Unix, only the current user can read and write a new one.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything other than a regular file, or the file
    /// cannot be written.
    pub fn replace(&self, name: impl AsRef<OsStr>, contents: &[u8]) -> Result<(), Error> {
        let mut temporary = name.as_ref().to_owned();
        // Another process may replace the same file.
        temporary.push(format!(".{}.new", std::process::id()));

        self.replace_by(name, temporary, contents).map(drop)
    }

    /// [Replaces](Self::replace) a file by one that is written under the name `temporary`, and
    /// returns it, open for reading and appending.
    ///
    /// A file with that name is what a crash left, and is overwritten. So there must be only one
    /// writer of `name`, such as the holder of its lock.
    ///
    /// # Errors
    ///
    /// Returns an error if one of the names belongs to anything other than a regular file, or the
    /// file cannot be written.
    pub fn replace_by(
        &self,
        name: impl AsRef<OsStr>,
        temporary: impl AsRef<OsStr>,
        contents: &[u8],
    ) -> Result<File, Error> {
        let (name, temporary) = (name.as_ref(), temporary.as_ref());
        let (path, new_path) = (self.at(name)?, self.at(temporary)?);
        let is_replaced = self.has_file(name)?;
        self.remove_leftover(temporary)?;

        let write = || -> io::Result<File> {
            let mut file = Access::Append.options().create_new(true).open(&new_path)?;
            if is_replaced {
                file.set_permissions(path.metadata()?.permissions())?;
            }
            file.write_all(contents)?;
            // The file only gets its name once it is completely on disk.
            file.sync_all()?;
            fs::rename(&new_path, &path)?;
            Ok(file)
        };

        let file = write().inspect_err(|_| {
            let _ = fs::remove_file(&new_path);
        })?;
        self.sync()?;
        Ok(file)
    }

    /// Removes a regular file with this name, if it exists.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything other than a regular file, or the file
    /// cannot be removed.
    pub fn remove_leftover(&self, name: impl AsRef<OsStr>) -> Result<(), Error> {
        let name = name.as_ref();
        if !self.has_file(name)? {
            return Ok(());
        }

        match self.remove_file(name) {
            Err(error) if !error.is_not_found() => Err(error),
            _ => Ok(()),
        }
    }
}
