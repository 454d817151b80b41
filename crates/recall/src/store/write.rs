use rusqlite::{Connection, Transaction, TransactionBehavior, params};

use super::vector::to_bytes;
use super::{Embedded, Entry, Store};
use crate::RecallError;

/// The source of passages without one.
const NO_SOURCE: &str = "";

impl Store {
    pub(crate) fn insert(&self, embedded: &Embedded, most: usize) -> Result<(), RecallError> {
        self.write(|writing| {
            self.check_room(writing, embedded.entries.len(), most)?;
            self.add_all(writing, embedded, None)
        })
    }

    /// Adds a passage without a source, in place of the oldest such passages if necessary.
    pub(crate) fn insert_note(&self, embedded: &Embedded, most: usize) -> Result<(), RecallError> {
        self.write(|writing| {
            let count = self.count_of(writing)?;
            // Only notes make room; passages of sources were put there on purpose.
            let excess = (count + embedded.entries.len()).saturating_sub(most);
            let sql = "DELETE FROM passages WHERE id IN (SELECT passages.id FROM passages \
                       JOIN sources ON sources.id = source WHERE name = ?1 \
                       ORDER BY passages.id LIMIT ?2)";
            let excess = i64::try_from(excess).unwrap_or(i64::MAX);
            writing
                .execute(sql, params![NO_SOURCE, excess])
                .map_err(|error| self.failed(error))?;

            self.check_room(writing, embedded.entries.len(), most)?;
            self.add_all(writing, embedded, None)
        })
    }

    pub(crate) fn replace_source(
        &self,
        source: &str,
        digest: Option<&str>,
        embedded: &Embedded,
        most: usize,
    ) -> Result<(), RecallError> {
        self.write(|writing| {
            // In one transaction with the new passages, so that a search finds the old or the new
            // ones.
            self.remove(writing, source)?;
            self.check_room(writing, embedded.entries.len(), most)?;
            self.source(writing, source, digest)?;
            self.add_all(writing, embedded, Some(source))
        })
    }

    pub(crate) fn remove_source(&self, source: &str) -> Result<usize, RecallError> {
        self.write(|writing| self.remove(writing, source))
    }

    pub(crate) fn count(&self) -> Result<usize, RecallError> {
        self.count_of(&self.connection())
    }

    pub(crate) fn sources(&self) -> Result<Vec<String>, RecallError> {
        let connection = self.connection();
        let read = || {
            let sql = "SELECT name FROM sources WHERE name <> '' ORDER BY name";
            let mut statement = connection.prepare_cached(sql)?;
            let names = statement.query_map([], |row| row.get(0))?;
            names.collect::<rusqlite::Result<Vec<_>>>()
        };

        read().map_err(|error| self.failed(error))
    }

    /// Returns the names and digests of the sources that have a digest and this prefix.
    pub(crate) fn digests(&self, prefix: &str) -> Result<Vec<(String, String)>, RecallError> {
        let connection = self.connection();
        let read = || {
            let sql = "SELECT name, digest FROM sources WHERE digest IS NOT NULL";
            let mut statement = connection.prepare_cached(sql)?;
            let rows = statement.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            rows.collect::<rusqlite::Result<Vec<(String, String)>>>()
        };

        let mut digests = read().map_err(|error| self.failed(error))?;
        // In SQL, `_` and `%` in a path would be patterns.
        digests.retain(|(name, _)| name.starts_with(prefix));
        Ok(digests)
    }

    /// Writes in one transaction, which is rolled back if `work` fails.
    pub(super) fn write<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, RecallError>,
    ) -> Result<T, RecallError> {
        let mut connection = self.connection();

        let failed = |error| self.failed(error);
        let writing = connection
            // Takes the lock before reading, or two writers could fail halfway.
            .transaction_with_behavior(TransactionBehavior::Immediate)
            .map_err(failed)?;
        let value = work(&writing)?;
        writing.commit().map_err(failed)?;

        Ok(value)
    }

    fn count_of(&self, connection: &Connection) -> Result<usize, RecallError> {
        let sql = "SELECT count(*) FROM passages";
        let count = connection.query_row(sql, [], |row| row.get::<_, u32>(0));
        count
            .map(|count| count as usize)
            .map_err(|error| self.failed(error))
    }

    fn check_room(
        &self,
        writing: &Transaction<'_>,
        more: usize,
        most: usize,
    ) -> Result<(), RecallError> {
        let passages = self.count_of(writing)?;
        if passages.saturating_add(more) <= most {
            return Ok(());
        }

        Err(RecallError::Full {
            place: self.place().to_owned(),
            passages,
            more,
            most,
        })
    }

    fn add_all(
        &self,
        writing: &Transaction<'_>,
        embedded: &Embedded,
        source: Option<&str>,
    ) -> Result<(), RecallError> {
        self.accept(writing, embedded)?;
        for entry in &embedded.entries {
            let name = source.unwrap_or(&entry.passage.source);
            let source = self.source(writing, name, None)?;
            add(writing, source, entry).map_err(|error| self.failed(error))?;
        }

        Ok(())
    }

    /// Checks that the vectors can be compared with the stored ones. The first ones set the
    /// dimension.
    fn accept(&self, writing: &Transaction<'_>, embedded: &Embedded) -> Result<(), RecallError> {
        // Nothing to learn the length of the vectors from.
        let Some(first) = embedded.entries.first() else {
            return Ok(());
        };

        let dimension = first.vector.len();
        let model = &embedded.model;
        let stored = self.settings(writing)?;
        self.check(&stored, model, Some(dimension))?;
        if stored.dimension.is_some() {
            return Ok(());
        }

        let dimension = i64::try_from(dimension).unwrap_or(i64::MAX);
        // The first passage decides the dimension.
        let set = writing.execute("UPDATE memory SET dimension = ?1", [dimension]);
        set.map(drop).map_err(|error| self.failed(error))
    }

    /// Returns the id of a source, which is added if it is missing.
    fn source(
        &self,
        writing: &Transaction<'_>,
        name: &str,
        digest: Option<&str>,
    ) -> Result<i64, RecallError> {
        let sql = "INSERT INTO sources (name, digest) VALUES (?1, ?2) ON CONFLICT (name) \
                   DO UPDATE SET digest = coalesce(excluded.digest, digest) RETURNING id";
        let add = || {
            let mut statement = writing.prepare_cached(sql)?;
            statement.query_row(params![name, digest], |row| row.get(0))
        };
        add().map_err(|error| self.failed(error))
    }

    /// Removes a source, and returns the number of its passages.
    fn remove(&self, writing: &Transaction<'_>, source: &str) -> Result<usize, RecallError> {
        let remove = || {
            let sql =
                "DELETE FROM passages WHERE source IN (SELECT id FROM sources WHERE name = ?1)";
            let removed = writing.execute(sql, [source])?;
            writing.execute("DELETE FROM sources WHERE name = ?1", [source])?;
            Ok(removed)
        };

        remove().map_err(|error| self.failed(error))
    }
}

fn add(writing: &Transaction<'_>, source: i64, entry: &Entry) -> rusqlite::Result<()> {
    let passage = &entry.passage;
    let vector = to_bytes(&entry.vector);

    let sql = "INSERT INTO passages (source, line, text) VALUES (?1, ?2, ?3)";
    let mut statement = writing.prepare_cached(sql)?;
    statement.execute(params![source, passage.line, passage.text])?;

    let sql = "INSERT INTO vectors (id, source, vector) VALUES (?1, ?2, ?3)";
    let mut statement = writing.prepare_cached(sql)?;
    statement.execute(params![writing.last_insert_rowid(), source, vector])?;
    Ok(())
}
