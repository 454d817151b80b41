use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};

use super::{Error, FileId, name};

/// An open folder.
///
/// It refers to the same folder even if the path changes: if the folder is renamed, files are found
/// in its new location, and a different folder at the old path isn't touched. Clones share one
/// handle.
#[derive(Debug, Clone)]
pub struct Folder {
    dir: Arc<Dir>,
    /// The path as given, for messages.
    path: Arc<Path>,
    /// The same path, independent of the working directory.
    absolute: Arc<Path>,
}

impl Folder {
    /// Opens a folder by a trusted path. Links in the path are followed.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder doesn't exist or cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = or_here(path.as_ref());
        let absolute = std::path::absolute(path)?;
        let dir = Dir::open_ambient_dir(path, ambient_authority())?;

        Ok(Self {
            dir: Arc::new(dir),
            path: path.into(),
            absolute: absolute.into(),
        })
    }

    /// Opens a folder by a trusted path, and creates it and its parents if they are missing.
    ///
    /// The directory entry of a new folder is synced to the disk.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder can be neither opened nor created.
    pub fn create(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = or_here(path.as_ref());
        let opened = Self::open(path);
        if !opened.as_ref().is_err_and(Error::is_not_found) {
            return opened;
        }

        let existing = path
            .ancestors()
            .skip(1)
            .find(|parent| or_here(parent).is_dir());
        std::fs::create_dir_all(path)?;
        for parent in path.ancestors().skip(1) {
            Self::open(parent)?.sync()?;
            if Some(parent) == existing {
                break;
            }
        }

        Self::open(path)
    }

    /// Opens the folder of a file by a trusted path, and returns it with the name of the file.
    ///
    /// Links in the path of the folder are followed. The file doesn't have to exist and isn't
    /// checked.
    ///
    /// # Errors
    ///
    /// Returns an error if the path doesn't end in a file name, or the folder cannot be opened.
    pub fn of_file(path: impl AsRef<Path>) -> Result<(Self, OsString), Error> {
        let path = path.as_ref();
        let (Some(name), Some(folder)) = (path.file_name(), path.parent()) else {
            return Err(Error::NotAName);
        };

        Ok((Self::open(folder)?, name.to_owned()))
    }

    /// Opens the folder of an existing file by a trusted path that may be a link to it. Returns the
    /// folder that actually contains the file, and its name there.
    ///
    /// # Errors
    ///
    /// Returns an error if the path or the target of the link doesn't exist, or if the folder
    /// cannot be opened.
    pub fn of_linked_file(path: impl AsRef<Path>) -> Result<(Self, OsString), Error> {
        Self::of_file(path.as_ref().canonicalize()?)
    }

    /// Opens a folder beneath this one by an untrusted path.
    ///
    /// # Errors
    ///
    /// Returns [`LeadsOut`](Error::LeadsOut) if the path is absolute, contains `..`, or a link in
    /// it leads out of this folder; or a different error if the folder doesn't exist or cannot be
    /// opened.
    pub fn beneath(&self, relative: impl AsRef<Path>) -> Result<Self, Error> {
        let relative = relative.as_ref();
        name::check_relative(relative)?;
        let mut normal = relative
            .components()
            .filter(|part| part.as_os_str() != ".")
            .peekable();

        if normal.peek().is_none() {
            return Ok(self.clone());
        }

        let relative: PathBuf = normal.collect();
        let dir = self.dir.open_dir(&relative).map_err(leads_out)?;
        Ok(Self {
            dir: Arc::new(dir),
            path: self.path.join(&relative).into(),
            absolute: self.absolute.join(&relative).into(),
        })
    }

    /// Opens the folder of a file beneath this one by an untrusted path, and returns it with the
    /// name of the file. The file doesn't have to exist and isn't checked.
    ///
    /// # Errors
    ///
    /// Returns the errors of [`beneath`](Self::beneath) for the folder of the file, or an error if
    /// the path doesn't end in a file name.
    pub fn file_beneath(&self, relative: impl AsRef<Path>) -> Result<(Self, OsString), Error> {
        let relative = relative.as_ref();
        name::check_relative(relative)?;

        let (Some(name), Some(folder)) = (relative.file_name(), relative.parent()) else {
            return Err(Error::NotAName);
        };

        Ok((self.beneath(folder)?, name.to_owned()))
    }

    /// Returns the path by which this folder was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path to this folder without links, for a library that opens files itself.
    ///
    /// # Errors
    ///
    /// Returns an error if the path by which this folder was opened no longer leads anywhere.
    pub fn real_path(&self) -> Result<PathBuf, Error> {
        // Elsewhere, canonical paths have a form that libraries don't accept.
        if cfg!(unix) {
            Ok(self.absolute.canonicalize()?)
        } else {
            Ok(self.absolute.to_path_buf())
        }
    }

    /// Returns the path of a name in this folder, for messages.
    pub fn path_of(&self, name: impl AsRef<OsStr>) -> PathBuf {
        if self.path.as_os_str() == "." {
            return PathBuf::from(name.as_ref());
        }
        self.path.join(name.as_ref())
    }

    /// Returns the names of all entries in this folder, in no particular order.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be read.
    pub fn names(&self) -> Result<Vec<OsString>, Error> {
        let entries = self.dir.entries()?;
        let names = entries.map(|entry| Ok(entry?.file_name()));
        names.collect::<io::Result<_>>().map_err(Error::Io)
    }

    /// Returns the unique id of this folder.
    ///
    /// # Errors
    ///
    /// Returns an error if the operating system doesn't provide one.
    pub fn id(&self) -> Result<FileId, Error> {
        Ok(FileId::from_metadata(&self.dir.dir_metadata()?))
    }

    /// Returns whether an open file is the one with this name in this folder. Returns `false` if it
    /// was removed, renamed or replaced.
    ///
    /// # Errors
    ///
    /// Returns an error if this cannot be determined.
    pub fn holds(&self, name: impl AsRef<OsStr>, file: &File) -> Result<bool, Error> {
        Ok(self.id_of(name.as_ref())? == Some(FileId::of(file)?))
    }

    /// Returns the id of the entry with this name in this folder; `None` if nothing has this name.
    fn id_of(&self, name: &OsStr) -> Result<Option<FileId>, Error> {
        let name = name::checked(name)?;

        match self.metadata(name) {
            Ok(metadata) => Ok(Some(FileId::from_metadata(&metadata))),
            Err(error) if is_gone(&error) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Removes a file. If the name belongs to a link, the link itself is removed.
    ///
    /// # Errors
    ///
    /// Returns an error if the file doesn't exist or cannot be removed.
    pub fn remove_file(&self, name: impl AsRef<OsStr>) -> Result<(), Error> {
        let name = name::checked(name.as_ref())?;
        Ok(self.dir.remove_file(name)?)
    }

    /// Syncs the directory entries of this folder to the disk. A new or renamed file isn't durable
    /// before this. Does nothing on operating systems that don't need it.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be synced.
    pub fn sync(&self) -> Result<(), Error> {
        if cfg!(unix) {
            // The handle itself may only support resolving paths.
            self.dir.open(".")?.sync_all()?;
        }
        Ok(())
    }

    pub(crate) fn dir(&self) -> &Dir {
        &self.dir
    }

    #[cfg(unix)]
    fn metadata(&self, name: &Path) -> io::Result<Metadata> {
        self.dir.symlink_metadata(name)
    }

    /// Only the metadata of an open file includes its id there.
    #[cfg(not(unix))]
    fn metadata(&self, name: &Path) -> io::Result<Metadata> {
        use cap_fs_ext::{FollowSymlinks, OpenOptionsFollowExt};

        let mut options = cap_std::fs::OpenOptions::new();
        options.read(true).follow(FollowSymlinks::No);
        self.dir.open_with(name, &options)?.metadata()
    }
}

/// The folder of a bare file name is the empty path.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() {
        Path::new(".")
    } else {
        path
    }
}

fn is_gone(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

/// `cap-std` reports a path that leads out with its own error, which has no OS error code.
fn leads_out(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::PermissionDenied && error.raw_os_error().is_none() {
        return Error::LeadsOut;
    }
    Error::Io(error)
}
