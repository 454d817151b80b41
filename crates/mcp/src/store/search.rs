//! Searching the texts of sessions, a part at a time, so that other calls don't wait for long.

use std::ops::ControlFlow;
use std::vec;

use super::backend::Backend;
use super::transaction::Transaction;
use super::{Filter, Owner, SessionHeader, StoreError};

/// How much text is searched before other calls have their turn, in bytes.
const PART: usize = 512 * 1024;

/// The cost of reading an entry apart from its text, in bytes of text.
const ENTRY: usize = 100;

/// Returns the selected sessions whose titles and texts contain all words.
pub(super) async fn search(
    backend: &Backend,
    owner: &Owner,
    filter: &Filter,
) -> Result<Vec<SessionHeader>, StoreError> {
    let candidates = Filter {
        limit: usize::MAX,
        offset: 0,
        ..filter.clone()
    };
    let of = owner.0.clone();
    let candidates = backend.read(move |sessions| sessions.select(&of, &candidates));

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
        search = backend
            .read(move |sessions| search.after_part(sessions))
            .await?;
        // Sessions in memory are read at once.
        tokio::task::yield_now().await;
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
    entry: u64,
}

/// What was read of a session.
struct Read {
    cost: usize,
    is_complete: bool,
}

impl Search {
    /// Searches the next part.
    fn after_part(mut self, sessions: &dyn Transaction) -> Result<Self, StoreError> {
        let mut left = PART;
        while left > 0
            && let Some(candidate) = &mut self.candidate
        {
            let read = candidate.read(sessions, &self.owner, left)?;
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
        sessions: &dyn Transaction,
        owner: &str,
        most: usize,
    ) -> Result<Read, StoreError> {
        let mut cost = ENTRY;
        let mut last = self.entry;
        let missing = &mut self.missing;

        let mut read = |number, text: &str| {
            last = number;
            missing.retain(|word| !text.contains(word));
            cost = cost.saturating_add(ENTRY).saturating_add(text.len());

            if missing.is_empty() || cost >= most {
                return ControlFlow::Break(());
            }
            ControlFlow::Continue(())
        };
        let id = &self.header.id;
        let read = sessions.texts(owner, id, self.entry, &mut read)?;

        self.entry = last;
        Ok(Read {
            cost,
            is_complete: read.is_continue() || self.missing.is_empty(),
        })
    }
}
