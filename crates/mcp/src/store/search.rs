//! Searching the texts of sessions, a part at a time, so that other calls don't wait for long.

use std::vec;

use rusqlite::{Connection, params};

use super::database::Database;
use super::select::select;
use super::{Filter, Owner, SessionHeader, StoreError};

/// How much text is searched before other calls have their turn, in bytes.
const PART: usize = 512 * 1024;

/// The cost of reading an entry apart from its text, in bytes of text.
const ENTRY: usize = 100;

/// Returns the selected sessions whose titles and texts contain all words.
pub(super) async fn search(
    database: &Database,
    owner: &Owner,
    filter: &Filter,
) -> Result<Vec<SessionHeader>, StoreError> {
    let candidates = Filter {
        limit: usize::MAX,
        offset: 0,
        ..filter.clone()
    };
    let of = owner.0.clone();
    let candidates = database.read(move |connection| select(connection, &of, &candidates));

    let words = filter.words.iter().map(|word| word.to_lowercase());
    let mut search = Search {
        owner: owner.0.clone(),
        words: words.collect(),
        candidates: candidates.await?.into_iter(),
        candidate: None,
        found: Vec::new(),
        most: filter.offset.saturating_add(filter.limit),
    };
    search.go_on();

    while search.candidate.is_some() {
        search = database
            .read(move |connection| search.after_part(connection))
            .await?;
    }
    Ok(search.found.into_iter().skip(filter.offset).collect())
}

/// A search that goes on.
struct Search {
    owner: String,
    words: Vec<String>,
    candidates: vec::IntoIter<SessionHeader>,
    /// The session whose text is searched next, or `None` at the end.
    candidate: Option<Candidate>,
    found: Vec<SessionHeader>,
    /// The maximum number of sessions to find.
    most: usize,
}

/// A session whose text is being searched.
struct Candidate {
    header: SessionHeader,
    /// The words that aren't found yet.
    missing: Vec<String>,
    /// The number of the last entry that was read.
    entry: i64,
}

/// What was read of a session.
struct Read {
    cost: usize,
    is_complete: bool,
}

impl Search {
    /// Searches the next part.
    fn after_part(mut self, connection: &Connection) -> Result<Self, StoreError> {
        let mut left = PART;
        while left > 0
            && let Some(candidate) = &mut self.candidate
        {
            let read = candidate.read(connection, &self.owner, left)?;
            left = left.saturating_sub(read.cost);
            if read.is_complete {
                self.go_on();
            }
        }
        Ok(self)
    }

    /// Goes on to the next session whose title doesn't contain all words.
    fn go_on(&mut self) {
        let searched = self.candidate.take();
        let found = searched.filter(|candidate| candidate.missing.is_empty());
        self.found.extend(found.map(|candidate| candidate.header));

        while self.found.len() < self.most
            && let Some(header) = self.candidates.next()
        {
            let title = header.title.to_lowercase();
            let mut missing = self.words.clone();
            missing.retain(|word| !title.contains(word));

            if !missing.is_empty() {
                self.candidate = Some(Candidate {
                    header,
                    missing,
                    entry: 0,
                });
                return;
            }
            self.found.push(header);
        }
    }
}

impl Candidate {
    /// Reads entries until all words are found, there are no more, or the cost is reached.
    fn read(
        &mut self,
        connection: &Connection,
        owner: &str,
        most: usize,
    ) -> Result<Read, StoreError> {
        let mut query = connection.prepare_cached(
            "SELECT number, words FROM entries
            WHERE session = (SELECT key FROM sessions WHERE owner = ?1 AND id = ?2) AND number > ?3
            ORDER BY number",
        )?;
        let mut rows = query.query(params![owner, self.header.id.as_str(), self.entry])?;

        let mut cost = ENTRY;
        while cost < most {
            let Some(row) = rows.next()? else {
                return Ok(Read {
                    cost,
                    is_complete: true,
                });
            };
            self.entry = row.get(0)?;
            let text = row.get_ref(1)?.as_str().unwrap_or_default();
            self.missing.retain(|word| !text.contains(word));
            cost = cost.saturating_add(ENTRY).saturating_add(text.len());

            if self.missing.is_empty() {
                break;
            }
        }
        Ok(Read {
            cost,
            is_complete: self.missing.is_empty(),
        })
    }
}
