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
pub(crate) use header::{HeaderChange, NewSession, Owner, SessionHeader, SessionId, SessionKind};
pub(crate) use recorded::{Changed, Recorded};
pub(crate) use select::{Filter, Order};
pub(crate) use sessions::{Addition, Position, SessionStore};
