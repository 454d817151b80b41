//! Sessions that are rebuilt from their entries with each call.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{SessionHeader, SessionKind};
use crate::failure::Failure;

/// The state of a session, which follows from its entries. The default is that of a session without
/// entries.
pub(crate) trait Recorded: Default + Send + 'static {
    /// The kind of session whose entries these are. Others are refused.
    const KIND: SessionKind;

    /// What one call adds.
    type Entry: Serialize + DeserializeOwned + Send + 'static;

    /// Notes how many entries were dropped. Called before the first one is replayed.
    fn skip(&mut self, _: u64) {}

    /// Applies an entry that was recorded earlier.
    ///
    /// # Errors
    ///
    /// Returns the reason for which the entry cannot follow the ones before it.
    fn replay(&mut self, entry: Self::Entry) -> Result<(), Failure>;
}

/// What a change returns: the entry to record, a result for the caller, and what lists show then.
pub(crate) struct Changed<E, T> {
    pub(crate) entry: E,
    pub(crate) result: T,
    pub(crate) is_complete: bool,
    /// The number of entries to keep, or `None` for all.
    pub(crate) keep: Option<usize>,
}

impl<E, T> Changed<E, T> {
    pub(crate) fn new(entry: E, result: T, is_complete: bool) -> Self {
        Self {
            entry,
            result,
            is_complete,
            keep: None,
        }
    }
}

/// A session as it is stored.
#[derive(Debug)]
pub(crate) struct Stored {
    pub(crate) header: SessionHeader,
    pub(super) bodies: Vec<String>,
}

impl Stored {
    /// Returns the number of entries that were dropped.
    pub(crate) fn dropped(&self) -> u64 {
        let kept = u64::try_from(self.bodies.len()).unwrap_or(u64::MAX);
        self.header.entries.saturating_sub(kept)
    }

    /// Returns the entries.
    pub(crate) fn entries<E: DeserializeOwned>(&self) -> Result<Vec<E>, Failure> {
        let numbers = self.dropped().saturating_add(1)..;
        let bodies = self.bodies.iter().zip(numbers);
        bodies
            .map(|(body, number)| {
                serde_json::from_str(body).map_err(|error| self.damaged(number, error))
            })
            .collect()
    }

    /// Returns the state of the session.
    pub(crate) fn state<R: Recorded>(&self) -> Result<R, Failure> {
        let SessionHeader { id, kind, .. } = &self.header;
        // All tools share the ids of a client.
        if *kind != R::KIND {
            let kind = kind.as_str();
            let message = format_args!("the session `{id}` is of another kind: `{kind}`");
            return Err(Failure::new(message));
        }

        let mut state = R::default();
        // Entries keep their numbers when earlier ones are dropped.
        state.skip(self.dropped());
        let numbers = self.dropped().saturating_add(1)..;
        for (entry, number) in self.entries()?.into_iter().zip(numbers) {
            let replayed = state.replay(entry);
            replayed.map_err(|failure| self.damaged(number, failure))?;
        }
        Ok(state)
    }

    fn damaged(&self, number: u64, reason: impl std::fmt::Display) -> Failure {
        let id = &self.header.id;
        Failure::new(format_args!(
            "entry {number} of the session `{id}`: {reason}"
        ))
    }
}
