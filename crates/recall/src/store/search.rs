use rusqlite::{Connection, Row};

use super::Store;
use super::vector::product;
use crate::{Query, RecallError, Recalled};

/// A passage by its id.
#[derive(Clone, Copy)]
struct Hit {
    score: f32,
    id: i64,
}

impl Store {
    /// Returns the passages that are most similar to a vector of length 1, best first.
    pub(crate) fn search(
        &self,
        vector: &[f32],
        query: &Query,
        model: &str,
    ) -> Result<Vec<Recalled>, RecallError> {
        let mut connection = self.connection();

        // Everything is read as it was at the same time.
        let reading = connection
            .transaction()
            .map_err(|error| self.failed(error))?;
        let stored = self.settings(&reading)?;
        // Another process may have begun to use another model.
        self.check(&stored, model, Some(vector.len()))?;

        let hits = self.hits(&reading, vector, query)?;
        // Texts are read of the best ones only, because reading all would take longer than
        // comparing.
        let found = hits.into_iter().map(|hit| self.passage(&reading, hit));
        found.collect()
    }

    fn hits(
        &self,
        connection: &Connection,
        vector: &[f32],
        query: &Query,
    ) -> Result<Vec<Hit>, RecallError> {
        let failed = |error| self.failed(error);
        let sql =
            "SELECT vectors.id, vector, name FROM vectors JOIN sources ON sources.id = source";
        let mut statement = connection.prepare_cached(sql).map_err(failed)?;
        let mut rows = statement.query([]).map_err(failed)?;

        let mut hits = Vec::new();
        while let Some(row) = rows.next().map_err(failed)? {
            // The name is read before the vector, which is longer by far.
            if let Some(filter) = &query.sources
                && !filter(&row.get::<_, String>(2).map_err(failed)?)
            {
                continue;
            }

            let hit = self.hit(row, vector)?;
            // Also false for a minimum that isn't a number.
            if hit.score >= query.min_score {
                hits.push(hit);
            }
        }

        // Of equal passages, the older one comes first.
        hits.sort_by(|one: &Hit, other| {
            other
                .score
                .total_cmp(&one.score)
                .then(one.id.cmp(&other.id))
        });
        // Texts are read only for what remains.
        hits.truncate(query.limit);
        Ok(hits)
    }

    fn hit(&self, row: &Row<'_>, vector: &[f32]) -> Result<Hit, RecallError> {
        let failed = |error| self.failed(error);
        let id: i64 = row.get(0).map_err(failed)?;
        let stored: Vec<u8> = row.get(1).map_err(failed)?;

        let expected = size_of_val(vector);
        if stored.len() != expected {
            let bytes = stored.len();
            return Err(self.damaged(format_args!(
                "the vector of passage {id} has {bytes} bytes; expected {expected}"
            )));
        }

        // Rounding may result in slightly more than 1.
        let score = product(&stored, vector).clamp(-1.0, 1.0);
        Ok(Hit { score, id })
    }

    fn passage(&self, connection: &Connection, hit: Hit) -> Result<Recalled, RecallError> {
        let id = hit.id;
        let sql = "SELECT text, sources.name, line FROM passages \
                   JOIN sources ON sources.id = source WHERE passages.id = ?1";
        let read = || {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_row([id], |row| {
                Ok(Recalled {
                    text: row.get(0)?,
                    source: row.get(1)?,
                    line: row.get(2)?,
                    score: hit.score,
                })
            })
        };

        read().map_err(|error| self.failed(error))
    }
}
