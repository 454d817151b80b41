//! The database of a memory.

use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use rusqlite::{Connection, ErrorCode};

use crate::error::named;
use crate::{Passage, RecallError};

mod open;
mod search;
mod vector;
mod words;
mod write;

pub(crate) use vector::unit;

/// Passages with their embeddings, which all have the same dimension.
pub(crate) struct Embedded {
    pub(crate) model: String,
    pub(crate) entries: Vec<Entry>,
}

/// A passage and its embedding.
pub(crate) struct Entry {
    pub(crate) passage: Passage,
    /// Has length 1, or contains only zeros.
    pub(crate) vector: Vec<f32>,
}

/// A database, and where it is.
pub(crate) struct Store {
    connection: Mutex<Connection>,
    place: Place,
}

/// Where a database is, for messages.
#[derive(Debug)]
struct Place(String);

impl Store {
    pub(crate) fn open(path: &Path) -> Result<Self, RecallError> {
        let (connection, place) = open::file(path)?;
        Self::prepared(connection, place)
    }

    pub(crate) fn in_memory() -> Result<Self, RecallError> {
        let place = Place("in memory".to_owned());
        let connection = Connection::open_in_memory().map_err(|error| place.failed(error))?;
        Self::prepared(connection, place)
    }

    fn prepared(mut connection: Connection, place: Place) -> Result<Self, RecallError> {
        open::prepare(&mut connection, &place)?;
        let connection = Mutex::new(connection);
        Ok(Self { connection, place })
    }

    /// Uses the database for embeddings of this model, or returns an error if it has those of
    /// another one.
    pub(crate) fn with_model(
        self,
        model: &str,
        dimension: Option<usize>,
    ) -> Result<Self, RecallError> {
        // The first embedder decides; in one statement, because several may open the file at once.
        let sql = "UPDATE memory SET model = ?1 WHERE model IS NULL";
        let set = self.connection().execute(sql, [model]);
        set.map_err(|error| self.failed(error))?;

        let stored = self.settings(&self.connection())?;
        self.check(&stored, model, dimension)?;
        Ok(self)
    }

    pub(crate) fn place(&self) -> &str {
        &self.place.0
    }

    /// A transaction that wasn't committed is rolled back, so a panic leaves nothing inconsistent.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn settings(&self, connection: &Connection) -> Result<Settings, RecallError> {
        let sql = "SELECT model, dimension FROM memory";
        let read = connection.query_row(sql, [], |row| {
            let dimension: Option<u32> = row.get(1)?;
            Ok(Settings {
                model: row.get(0)?,
                dimension: dimension.map(|dimension| dimension as usize),
            })
        });

        read.map_err(|error| self.place.failed(error))
    }

    /// Checks that embeddings of this model can be compared with the stored ones.
    fn check(
        &self,
        stored: &Settings,
        model: &str,
        dimension: Option<usize>,
    ) -> Result<(), RecallError> {
        let of_model = stored.model.as_deref().unwrap_or_default();
        // Vectors of different models have nothing to do with each other, even with equal
        // dimensions.
        let (of_model, model, is_same) = (named(of_model), named(model), of_model == model);

        let problem = match (stored.dimension, dimension) {
            _ if !is_same => format!(
                "of the model {of_model}, and the embedder has the model {model}; expected the same model, \
                 or a new memory"
            ),
            (Some(expected), Some(found)) if expected != found => format!(
                "with {expected} dimensions, and those of the embedder (model {model}) have {found}; \
                 expected {expected}, or a new memory"
            ),
            _ => return Ok(()),
        };
        Err(RecallError::OtherModel {
            place: self.place().to_owned(),
            problem,
        })
    }

    fn failed(&self, error: rusqlite::Error) -> RecallError {
        self.place.failed(error)
    }

    fn damaged(&self, problem: impl fmt::Display) -> RecallError {
        self.place.damaged(problem)
    }
}

/// What the vectors of a memory have in common.
struct Settings {
    /// `None` until the first embedder uses it.
    model: Option<String>,
    /// `None` until the first passage is added.
    dimension: Option<usize>,
}

impl Place {
    fn damaged(&self, problem: impl fmt::Display) -> RecallError {
        RecallError::Damaged {
            place: self.0.clone(),
            problem: problem.to_string(),
        }
    }

    fn failed(&self, error: rusqlite::Error) -> RecallError {
        let is_damaged = match &error {
            rusqlite::Error::SqliteFailure(failure, _) => matches!(
                failure.code,
                // Unknown: for example, a table is missing.
                ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown
            ),
            rusqlite::Error::SqlInputError { .. }
            | rusqlite::Error::FromSqlConversionFailure(..)
            | rusqlite::Error::IntegralValueOutOfRange(..)
            | rusqlite::Error::InvalidColumnType(..)
            // A row without its counterpart: something else has edited the file.
            | rusqlite::Error::QueryReturnedNoRows => true,
            _ => false,
        };
        if is_damaged {
            return self.damaged(error);
        }

        RecallError::Database {
            place: self.0.clone(),
            source: Box::new(error),
        }
    }
}
