use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::Error;

/// A folder, by its path. Clones share the path.
#[derive(Debug, Clone)]
pub struct Folder {
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
    /// Returns an error if the folder doesn't exist or cannot be read.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        let path = or_here(path.as_ref());
        fs::read_dir(path)?;

        Ok(Self {
            path: path.into(),
            absolute: std::path::absolute(path)?.into(),
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

        // Looked up before, because afterwards all of them exist.
        let existing = path
            .ancestors()
            .skip(1)
            .find(|parent| or_here(parent).is_dir());
        fs::create_dir_all(path)?;
        // A new folder is durable once the folder around it is.
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
        let parts = descending(relative.as_ref())?;
        if parts.as_os_str().is_empty() {
            return Ok(self.clone());
        }

        let root = self.absolute.canonicalize()?;
        let mut folder = root.clone();
        // Part by part, so that a link that leads out is found before what is behind it is looked
        // at.
        for part in &parts {
            folder = folder.join(part).canonicalize()?;
            if !folder.starts_with(&root) {
                return Err(Error::LeadsOut);
            }
        }

        fs::read_dir(&folder)?;
        Ok(Self {
            path: self.path.join(&parts).into(),
            absolute: folder.into(),
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
        let relative = descending(relative.as_ref())?;
        let (Some(name), Some(folder)) = (relative.file_name(), relative.parent()) else {
            return Err(Error::NotAName);
        };

        Ok((self.beneath(folder)?, name.to_owned()))
    }

    /// Returns the path by which this folder was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns a path to this folder without links, for a library that opens files itself, and to
    /// compare folders.
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
        let entries = fs::read_dir(&self.absolute)?;
        let names = entries.map(|entry| Ok(entry?.file_name()));
        names.collect::<io::Result<_>>().map_err(Error::Io)
    }

    /// Syncs the directory entries of this folder to the disk. A new or renamed file isn't durable
    /// before this. Does nothing on operating systems that don't need it.
    ///
    /// # Errors
    ///
    /// Returns an error if the folder cannot be synced.
    pub fn sync(&self) -> Result<(), Error> {
        if cfg!(unix) {
            File::open(&self.absolute)?.sync_all()?;
        }
        Ok(())
    }

    /// Returns the absolute path of a name in this folder.
    pub(super) fn at(&self, name: &OsStr) -> Result<PathBuf, Error> {
        let mut components = Path::new(name).components();
        match (components.next(), components.next()) {
            // A trailing separator isn't a component, so the text is compared too.
            (Some(Component::Normal(only)), None) if only == name => Ok(self.absolute.join(name)),
            _ => Err(Error::NotAName),
        }
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

/// Returns the folders and the name on a relative path that only descends.
fn descending(path: &Path) -> Result<PathBuf, Error> {
    let parts = path.components().filter(|part| *part != Component::CurDir);
    let normal = parts.map(|part| match part {
        Component::Normal(name) => Ok(name),
        _ => Err(Error::LeadsOut),
    });
    normal.collect()
}
