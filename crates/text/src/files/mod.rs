//! Opens, creates, locks and replaces files.
//!
//! A [`Folder`] is a trusted path. An untrusted path beneath it cannot lead out of it. Only regular
//! files are opened: a link, a named pipe, a device or a folder is an [`Error`]. New files can only
//! be read and written by the current user, since they contain replies of models and input of users.
//!
//! ```
//! use cogwork_text::files::{Access, Folder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path().join("notes.txt");
//! let (folder, name) = Folder::of_file(&path)?;
//! folder.replace(&name, b"first")?;
//! assert_eq!(folder.read_text_file(&name, 1024)?, "first");
//!
//! let file = folder.open_file(&name, Access::Append)?;
//! folder.remove_file(&name)?;
//! assert!(!folder.has_file(&name)?);
//! # Ok(())
//! # }
//! ```
//!
//! All calls may block on disk access. Async code should run them on a thread for blocking work.

mod error;
mod file;
mod folder;
mod lock;
mod replace;
mod safe_name;

pub use error::Error;
pub use file::Access;
pub use folder::Folder;
pub use lock::{LockError, LockFile};
pub use safe_name::safe_name;
