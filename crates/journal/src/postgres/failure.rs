//! Failures of a statement, and which of them may pass.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use deadpool_postgres::PoolError;
use tokio_postgres::error::SqlState;

use crate::StoreError;
use crate::error::Kind;

/// Why a statement failed.
pub(super) enum Failure {
    Postgres(tokio_postgres::Error),
    Pool(PoolError),
    /// The server didn't respond within this time.
    TimedOut(Duration),
    Store(StoreError),
}

impl Failure {
    /// Returns whether the same statement may succeed later, because the server or the network
    /// failed and not the statement.
    pub(super) fn is_passing(&self) -> bool {
        match self {
            Self::Postgres(error) => is_passing(error),
            Self::Pool(PoolError::Backend(error)) => is_passing(error),
            Self::Pool(PoolError::Timeout(_)) | Self::TimedOut(_) => true,
            Self::Pool(_) => false,
            Self::Store(error) => error.is_unavailable(),
        }
    }

    /// Returns the error to report. `what` is the location and the operation.
    pub(super) fn into_error(self, what: impl fmt::Display) -> StoreError {
        let kind = if self.is_passing() {
            Kind::Unavailable
        } else {
            Kind::Other
        };

        match self {
            Self::Store(error) => error,
            Self::Postgres(error) | Self::Pool(PoolError::Backend(error)) => {
                StoreError::caused(kind, what, Told(error))
            }
            Self::Pool(error) => StoreError::caused(kind, what, error),
            Self::TimedOut(limit) => {
                let text = format_args!("{what}: the server did not respond within {limit:?}");
                StoreError::new(kind, text)
            }
        }
    }
}

fn is_passing(error: &tokio_postgres::Error) -> bool {
    let Some(error) = error.as_db_error() else {
        // Without a reply of the server, it is the connection that failed.
        return error.is_closed()
            || error
                .source()
                .is_some_and(|source| source.is::<std::io::Error>());
    };

    let state = error.code();
    state.code().starts_with("08")
        || [
            SqlState::ADMIN_SHUTDOWN,
            SqlState::CRASH_SHUTDOWN,
            SqlState::CANNOT_CONNECT_NOW,
            SqlState::TOO_MANY_CONNECTIONS,
            SqlState::T_R_SERIALIZATION_FAILURE,
            SqlState::T_R_DEADLOCK_DETECTED,
            SqlState::LOCK_NOT_AVAILABLE,
        ]
        .contains(state)
}

/// An error of the server with its message, which the error itself leaves to its source.
#[derive(Debug)]
struct Told(tokio_postgres::Error);

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(error) = self.0.as_db_error() {
            let code = error.code().code();
            return write!(f, "{} (SQLSTATE {code})", error.message());
        }

        write!(f, "{}", self.0)?;
        match self.0.source() {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Told {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

impl From<tokio_postgres::Error> for Failure {
    fn from(error: tokio_postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl From<PoolError> for Failure {
    fn from(error: PoolError) -> Self {
        Self::Pool(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
