//! The sessions of all clients, in a SQLite database or in memory.
//!
//! A session is a list of entries. Entries are only appended, so each call writes as much as it
//! adds, and a session is rebuilt by reading them in order. A kind of sessions may drop its oldest
//! entries; what is kept instead of them is part of the session.

mod backend;
mod changes;
mod entry;
mod error;
mod header;
mod memory;
mod position;
mod query;
mod recorded;
mod search;
mod sessions;
mod sqlite;
mod transaction;
mod values;

pub(crate) use changes::SessionChange;
pub(crate) use entry::Appended;
pub(crate) use error::StoreError;
pub(crate) use header::{
    Change, NewSession, Owner, Replaced, SessionHeader, SessionId, SessionKind,
};
pub(crate) use position::Shortened;
pub(crate) use query::{Before, Filter, Order};
pub(crate) use recorded::{Changed, Recorded, RecordedSessions};
pub(crate) use sessions::SessionStore;
