use crate::StoreError;

/// Why a run could not be read or written.
pub(super) enum Failure {
    Sqlite(rusqlite::Error),
    /// The run is not in the expected state.
    Store(StoreError),
}

impl From<rusqlite::Error> for Failure {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

impl From<StoreError> for Failure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}
