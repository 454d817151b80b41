use std::collections::hash_map::RandomState;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, Hasher};
use std::io::{self, Write};

use super::{Error, Folder};

/// The number of random names that are tried.
const TRIES: usize = 16;
/// The end of a temporary file's name, after the name of the target, a dot and digits.
const ENDING: &str = ".new";
/// The number of random hexadecimal digits in a name.
const DIGITS: usize = 8;

/// A new file that will replace another file. Dropping it removes it.
#[derive(Debug)]
pub struct Temporary {
    folder: Folder,
    target: OsString,
    /// `None` once the file is in place.
    name: Option<OsString>,
    file: File,
}

impl Folder {
    /// Creates a file that can replace `target`, with the permissions of the existing file.
    ///
    /// Its name consists of the name of the target, a dot, 8 random hexadecimal digits and `.new`.
    ///
    /// # Errors
    ///
    /// Returns an error if `target` belongs to anything other than a regular file, or the file
    /// cannot be created.
    pub fn temporary(&self, target: impl AsRef<OsStr>) -> Result<Temporary, Error> {
        self.temporary_by(target.as_ref(), |target| self.create_random(target))
    }

    /// Creates a file with this name that can replace `target`, with the permissions of the
    /// existing file.
    ///
    /// A leftover file with this name from a crash is removed, so no search for leftovers is
    /// needed. Must only be called by the sole writer of `target`, such as the holder of its lock.
    ///
    /// # Errors
    ///
    /// Returns an error if `target` or `name` belongs to anything other than a regular file, or the
    /// file cannot be created.
    pub fn temporary_named(
        &self,
        target: impl AsRef<OsStr>,
        name: impl AsRef<OsStr>,
    ) -> Result<Temporary, Error> {
        let name = name.as_ref();
        self.temporary_by(target.as_ref(), |_| {
            self.remove_leftover(name)?;
            Ok((name.to_owned(), self.create_new(name)?))
        })
    }

    fn temporary_by(
        &self,
        target: &OsStr,
        create: impl FnOnce(&OsStr) -> Result<(OsString, File), Error>,
    ) -> Result<Temporary, Error> {
        let permissions = self
            .has_file(target)?
            .then(|| self.dir().symlink_metadata(target))
            .transpose()?;

        let (name, file) = create(target)?;
        let temporary = Temporary {
            folder: self.clone(),
            target: target.to_owned(),
            name: Some(name),
            file,
        };

        if let Some(replaced) = permissions {
            let permissions = replaced.permissions().into_std(&temporary.file)?;
            temporary.file.set_permissions(permissions)?;
        }

        Ok(temporary)
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

    /// Replaces the content of a file atomically, or creates the file. After a crash, the file has
    /// either the old or the new content; after an error, the old one. A replaced file keeps its
    /// permissions; on Unix, only the current user can read and write a new one.
    ///
    /// # Errors
    ///
    /// Returns an error if the name belongs to anything other than a regular file, or the file
    /// cannot be written.
    pub fn replace(&self, name: impl AsRef<OsStr>, contents: &[u8]) -> Result<(), Error> {
        let mut temporary = self.temporary(name)?;
        temporary.write_all(contents)?;
        temporary.file().sync_all()?;
        temporary.put_in_place()?;

        self.sync()
    }

    fn create_random(&self, target: &OsStr) -> Result<(OsString, File), Error> {
        let mut taken = None;

        for _ in 0..TRIES {
            let name = random_name(target);
            match self.create_new(&name) {
                Ok(file) => return Ok((name, file)),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => taken = Some(error),
                Err(error) => return Err(error),
            }
        }

        Err(taken.unwrap_or_else(|| io::Error::from(io::ErrorKind::AlreadyExists).into()))
    }
}

impl Temporary {
    /// Returns the file, which is open for reading and appending.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Renames the file to the name of its target, and returns the open file.
    ///
    /// Nothing is synced: for durability, call [`sync_all`](File::sync_all) before and
    /// [`Folder::sync`] after.
    ///
    /// # Errors
    ///
    /// Returns an error if the file cannot be renamed. The target remains unchanged.
    pub fn put_in_place(mut self) -> Result<File, Error> {
        let file = self.file.try_clone()?;
        let dir = self.folder.dir();
        let Some(name) = &self.name else {
            return Err(io::Error::from(io::ErrorKind::NotFound).into());
        };

        dir.rename(name, dir, &self.target)?;
        self.name = None;
        Ok(file)
    }
}

impl Write for Temporary {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = self.folder.remove_file(name);
        }
    }
}

fn random_name(target: &OsStr) -> OsString {
    // The keys of a hasher are random and differ from each other.
    let random = RandomState::new().build_hasher().finish() as u32;
    let mut name = target.to_owned();
    name.push(format!(".{random:0DIGITS$x}{ENDING}"));

    name
}
