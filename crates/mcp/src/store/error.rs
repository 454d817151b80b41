use std::fmt;

use cogwork_text::OneLine;
use rusqlite::ErrorCode;

/// The maximum number of characters of a message.
const MESSAGE: usize = 400;

/// An error of the store of sessions. The message is a single line.
#[derive(Debug, Clone)]
pub(crate) struct StoreError(String);

impl StoreError {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self(message.to_string())
    }
}

impl From<rusqlite::Error> for StoreError {
    fn from(error: rusqlite::Error) -> Self {
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::new("the database of sessions is locked by another process; try again")
            }
            Some(ErrorCode::DiskFull) => {
                Self::new("the database of sessions is full, or its disk is; remove old sessions")
            }
            Some(ErrorCode::ReadOnly) => {
                Self::new("the database of sessions cannot be written: it is read-only")
            }
            Some(ErrorCode::NotADatabase) => {
                Self::new("the file isn't a database of sessions; choose another folder")
            }
            _ => Self::new(format_args!("the database of sessions: {error}")),
        }
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        OneLine::new(&self.0).with_max_chars(MESSAGE).fmt(f)
    }
}

impl std::error::Error for StoreError {}
