use std::collections::{BTreeSet, HashMap};

use cogwork_thinking::memory::{Found, MAX_BYTES, MAX_ITEMS, weight, words};
use rusqlite::{Connection, params};

use super::Store;
use crate::RecallError;

/// The maximum number of distinct words of a query. Further words are ignored.
const QUERY_WORDS: usize = 256;

impl Store {
    /// Adds a note, and forgets the oldest ones beyond the limits.
    pub(crate) fn add_note(&self, text: &str) -> Result<(), RecallError> {
        self.write(|writing| {
            let add = || {
                writing.execute("INSERT INTO notes (text) VALUES (?1)", [text])?;
                let id = writing.last_insert_rowid();
                // The same words as in a search, whatever SQLite's tokenizer would make of the
                // text.
                let words = words(text).collect::<Vec<_>>().join(" ");
                let sql = "INSERT INTO note_words (rowid, words) VALUES (?1, ?2)";
                writing.execute(sql, params![id, words])?;
                // In the same transaction, so that the limits hold at any time.
                forget(writing)
            };
            add().map_err(|error| self.failed(error))
        })
    }

    /// Returns the notes with the highest scores, of equal ones the newer first. A score is the
    /// fraction of the query's words that a note contains, weighted by how rare they are. Unlike
    /// with BM25, such a score has a fixed scale for a threshold, and a long note gains nothing by
    /// repetition.
    pub(crate) fn search_notes(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, RecallError> {
        let connection = self.connection();
        let read = || {
            let mut scored: Vec<_> = scores(&connection, query)?.into_iter().collect();
            // A word that all notes have weighs nothing.
            scored.retain(|(_, score)| *score > 0.0 && *score >= threshold);
            // Of equal notes, the newer one comes first, as it does in memory.
            scored.sort_by(|(id, score), (other, than)| than.total_cmp(score).then(other.cmp(id)));
            scored.truncate(top_k);

            let mut statement =
                connection.prepare_cached("SELECT text FROM notes WHERE id = ?1")?;
            let found = scored.into_iter().map(|(id, score)| {
                let text: String = statement.query_row([id], |row| row.get(0))?;
                Ok(Found::new(text, score))
            });
            found.collect::<rusqlite::Result<Vec<_>>>()
        };

        read().map_err(|error| self.failed(error))
    }
}

/// Returns the scores of the notes that contain at least one word of the query, by their ids.
fn scores(connection: &Connection, query: &str) -> rusqlite::Result<HashMap<i64, f32>> {
    let sql = "SELECT count(*) FROM notes";
    let notes: i64 = connection.query_row(sql, [], |row| row.get(0))?;
    let notes = usize::try_from(notes).unwrap_or_default();
    let sql = "SELECT rowid FROM note_words WHERE note_words MATCH ?1";
    let mut having = connection.prepare_cached(sql)?;

    let mut scores = HashMap::new();
    let mut whole = 0.0;
    for word in words(query).take(QUERY_WORDS).collect::<BTreeSet<_>>() {
        // Quoted, so that it isn't an operator.
        let ids = having.query_map([format!("\"{word}\"")], |row| row.get(0))?;
        let ids = ids.collect::<rusqlite::Result<Vec<i64>>>()?;
        let weight = weight(notes, ids.len());

        // Words that no note has count as well, so that a score is the part that was found.
        whole += weight;
        for id in ids {
            *scores.entry(id).or_insert(0.0) += weight;
        }
    }

    // The score is the share of the query that a note has.
    scores.values_mut().for_each(|score| *score /= whole);
    Ok(scores)
}

fn forget(writing: &Connection) -> rusqlite::Result<()> {
    let sql = "DELETE FROM notes WHERE id IN (
        SELECT id FROM (
            SELECT id, row_number() OVER newest AS number, sum(octet_length(text)) OVER newest AS bytes
            FROM notes WINDOW newest AS (ORDER BY id DESC)
        ) WHERE number > ?1 OR bytes > ?2)";
    let most = |limit: usize| i64::try_from(limit).unwrap_or(i64::MAX);

    writing.execute(sql, params![most(MAX_ITEMS), most(MAX_BYTES)])?;
    Ok(())
}
