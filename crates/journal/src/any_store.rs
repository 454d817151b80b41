use std::path::Path;

use crate::store::Kept;
use crate::{FileStore, RunQuery, RunSummary, SqliteStore, Store, StoreError};

/// A store of any kind, which a program chooses at run time.
///
/// ```
/// use cogwork_journal::{AnyStore, RunQuery};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// # let place = folder.path().join("runs.db");
/// let store = AnyStore::at(place.to_str().unwrap_or_default())?;
/// assert!(matches!(store, AnyStore::Sqlite(_)));
/// assert!(store.query(RunQuery::new().failed()).await?.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum AnyStore {
    /// A folder.
    File(FileStore),
    /// A SQLite database.
    Sqlite(SqliteStore),
    /// A PostgreSQL database.
    #[cfg(feature = "postgres")]
    Postgres(crate::PostgresStore),
}

impl AnyStore {
    /// Returns the store at this place: a PostgreSQL database if it begins with `postgres://` or
    /// `postgresql://`, a SQLite database if it is a file or ends with `.db`, `.sqlite` or
    /// `.sqlite3`, and a folder otherwise. Nothing is created or connected before the first use.
    ///
    /// # Errors
    ///
    /// Returns an error if the address of a PostgreSQL database is invalid, or if this crate was
    /// built without the feature `postgres`.
    pub fn at(place: &str) -> Result<Self, StoreError> {
        if place.starts_with("postgres://") || place.starts_with("postgresql://") {
            return postgres(place);
        }

        let path = Path::new(place);
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_named_so = matches!(ending, Some("db" | "sqlite" | "sqlite3"));
        Ok(if path.is_file() || (is_named_so && !path.is_dir()) {
            Self::Sqlite(SqliteStore::new(path))
        } else {
            Self::File(FileStore::new(path))
        })
    }

    /// Returns the runs that match a query. In a folder, each file is read completely.
    ///
    /// # Errors
    ///
    /// Returns an error if the store cannot be read. A store that doesn't exist has no runs.
    pub async fn query(&self, query: RunQuery) -> Result<Vec<RunSummary>, StoreError> {
        match self {
            Self::File(store) => {
                let runs = match query.only_run() {
                    Some(run_id) => store.run(run_id).await?.into_iter().collect(),
                    None => store.runs().await?,
                };
                Ok(query.select(runs))
            }
            Self::Sqlite(store) => store.query(query).await,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.query(query).await,
        }
    }
}

#[cfg(feature = "postgres")]
fn postgres(url: &str) -> Result<AnyStore, StoreError> {
    crate::PostgresStore::new(url).map(AnyStore::Postgres)
}

#[cfg(not(feature = "postgres"))]
fn postgres(url: &str) -> Result<AnyStore, StoreError> {
    let scheme = url.split(':').next().unwrap_or_default();
    Err(StoreError::new(
        crate::error::Kind::Other,
        format_args!(
            "{scheme}: this program was built without PostgreSQL; expected a folder or a SQLite database"
        ),
    ))
}

impl Store for AnyStore {
    fn kept(&self, run_id: &str) -> Kept {
        match self {
            Self::File(store) => store.kept(run_id),
            Self::Sqlite(store) => store.kept(run_id),
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.kept(run_id),
        }
    }

    fn place(&self) -> String {
        match self {
            Self::File(store) => store.place(),
            Self::Sqlite(store) => store.place(),
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.place(),
        }
    }

    async fn list(&self) -> Result<Vec<RunSummary>, StoreError> {
        match self {
            Self::File(store) => store.list().await,
            Self::Sqlite(store) => store.list().await,
            #[cfg(feature = "postgres")]
            Self::Postgres(store) => store.list().await,
        }
    }
}
