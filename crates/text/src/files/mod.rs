//! Opens, creates, locks and replaces files.
//!
//! A path is resolved once, to a [`Folder`]. All further operations are relative to the open
//! folder, and an untrusted path beneath it cannot lead out of it. Only regular files are opened: a
//! link, a named pipe, a device or a folder is an [`Error`], and opening never waits for the other
//! end of a pipe.
//!
//! ```
//! use cogwork_text::files::{Access, Folder};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let scratch = tempfile::tempdir()?;
//! # let path = scratch.path().join("notes.txt");
//! let (folder, name) = Folder::of_file(&path)?;
//! folder.replace(&name, b"first")?;
//! assert_eq!(folder.read_file(&name, 1024)?, b"first");
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
mod folder;
mod id;
mod kind;
mod lock;
mod name;
mod open;
mod read;
mod safe_name;
mod temporary;

pub use error::Error;
pub use folder::Folder;
pub use id::FileId;
pub use kind::FileKind;
pub use lock::{LockError, LockFile};
pub use open::Access;
pub use read::{read, read_text};
pub use safe_name::safe_name;
pub use temporary::Temporary;
