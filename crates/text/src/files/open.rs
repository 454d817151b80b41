use std::ffi::OsStr;
use std::fs::File;

use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::OpenOptions;

use super::{Error, FileKind, Folder, name};

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
    fn options(self) -> OpenOptions {
        let mut options = OpenOptions::new();

        // Records contain replies of models and input of users.
        #[cfg(unix)]
        cap_std::fs::OpenOptionsExt::mode(&mut options, 0o600);

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

    /// Opens an existing regular file.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist, the name belongs to anything other than a
    /// regular file, or the file cannot be opened.
    pub fn open_file(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        self.open_with(name.as_ref(), &mut access.options())
    }

    /// Opens a regular file, or creates it if nothing has this name. On Unix, only the current user
    /// can read and write a new file.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything other than a regular file, or the file
    /// cannot be opened or created.
    pub fn open_or_create(&self, name: impl AsRef<OsStr>, access: Access) -> Result<File, Error> {
        let name = name.as_ref();
        let mut options = match access {
            Access::Read => Access::Write.options(),
            access => access.options(),
        };
        self.open_with(name, options.create(true))
    }

    /// Creates a file for reading and appending. On Unix, only the current user can read and write
    /// it.
    ///
    /// # Errors
    ///
    /// Returns an error of kind [`AlreadyExists`](std::io::ErrorKind::AlreadyExists) if anything
    /// has this name, including a dangling link; or a different error if the file cannot be
    /// created.
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

        // Opening a device may have side effects, so the type of the entry is checked first.
        self.has_file(name)?;

        // The entry may have changed since. Without `nonblock`, opening a pipe would wait for its
        // other end.
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
