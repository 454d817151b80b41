//! The sessions of all clients, in a SQLite database in a file or in memory.
//!
//! A session is a list of entries. Entries are only appended, so each call writes as much as it
//! adds, and a session is rebuilt by reading them in order. A kind of sessions may keep only its
//! newest entries.

mod database;
mod error;
mod header;
mod recorded;
mod select;
mod sessions;

pub(crate) use error::StoreError;
pub(crate) use header::{Change, NewSession, Owner, SessionHeader, SessionId, SessionKind};
pub(crate) use recorded::{Changed, Recorded, RecordedSessions};
pub(crate) use select::{Before, Filter, Order};
pub(crate) use sessions::SessionStore;
