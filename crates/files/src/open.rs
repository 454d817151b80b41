use std::ffi::OsStr;
use std::fs::File;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;

use crate::{Error, FileKind, Folder, name};

/// What a file is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Reading.
    Read,
    /// Reading, and writing anywhere.
    Write,
    /// Reading, and writing at the end.
    Append,
}

impl Access {
    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();

        match self {
            Self::Read => options.read(true),
            Self::Write => options.read(true).write(true),
            Self::Append => options.read(true).append(true),
        };

        options
    }
}

impl Folder {
    /// Returns whether there is a regular file of this name; `false` means that the name is free.
    ///
    /// # Errors
    ///
    /// When the name stands for anything else, such as a link, a folder or a named pipe.
    pub fn has_file(&self, name: impl AsRef<OsStr>) -> Result<bool, Error> {
        Ok(self.file_length(name)?.is_some())
    }

    /// Returns the length of a regular file in bytes; `None` means that the name is free.
    ///
    /// # Errors
    ///
    /// As of [`has_file`](Self::has_file).
    pub fn file_length(&self, name: impl AsRef<OsStr>) -> Result<Option<u64>, Error> {
        let name = name::checked(name.as_ref())?;

        match self.dir().symlink_metadata(name) {
            Ok(metadata) => {
                must_be_file(FileKind::of(metadata.file_type()))?;
                Ok(Some(metadata.len()))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Opens a regular file that exists.
    ///
    /// # Errors
    ///
    /// When there is no such file, the name stands for anything else, or the file cannot be opened.
    pub fn open_file(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        self.open_with(name.as_ref(), &mut access.options())
    }

    /// Opens a regular file, which is created if the name is free.
    ///
    /// # Errors
    ///
    /// When the name stands for anything other than a regular file, or the file cannot be opened or created.
    pub fn open_or_create(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        let name = name.as_ref();
        let mut options = match access {
            Access::Read => Access::Write.options(),
            access => access.options(),
        };
        self.open_with(name, options.create(true))
    }

    /// Creates a file for appending; it can be read too.
    ///
    /// # Errors
    ///
    /// Of kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) when there is anything of this name, even
    /// a link that leads nowhere; or when the file cannot be created.
    pub fn create_new(&self, name: impl AsRef<OsStr>) -> Result<File, Error> {
        let name = name::checked(name.as_ref())?;
        let mut options = Access::Append.options();
        let created = self
            .dir()
            .open_with(name, options.create_new(true).follow(FollowSymlinks::No))?;

        Ok(created.into_std())
    }

    fn open_with(&self, name: &OsStr, options: &mut OpenOptions) -> Result<File, Error> {
        let path = name::checked(name)?;

        // Opening a device can have effects of its own, so it is not even opened to be looked at.
        self.has_file(name)?;

        // The name may stand for something else by now. Without `nonblock`, a pipe would wait for its
        // other end right here.
        options.follow(FollowSymlinks::No).nonblock(true);
        let opened = self.dir().open_with(path, options);
        let file = opened.map_err(|error| self.has_file(name).err().unwrap_or(Error::Io(error)))?;

        must_be_file(FileKind::of(file.metadata()?.file_type()))?;
        Ok(file.into_std())
    }
}

fn must_be_file(found: FileKind) -> Result<(), Error> {
    if found == FileKind::File {
        return Ok(());
    }
    Err(Error::NotAFile { found })
}
