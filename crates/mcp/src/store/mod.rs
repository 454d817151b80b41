//! The sessions of all clients, in a SQLite database in a file or in memory.
//!
//! A session is a list of entries. Entries are only appended, so each call writes as much as it
//! adds, and a session is rebuilt by reading them in order. A kind of sessions may keep only its
//! newest entries.

mod database;
mod header;
mod sessions;
mod stored;

pub(crate) use header::{NewSession, Owner, SessionHeader, SessionId, SessionKind};
pub(crate) use sessions::SessionStore;
pub(crate) use stored::{Changed, Recorded, Stored};
