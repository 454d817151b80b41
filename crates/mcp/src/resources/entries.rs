//! Sessions as the entries that are stored.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::store::{Owner, SessionHeader, SessionStore, StoreError};

/// Reads the newest entries of sessions.
pub(crate) struct EntriesView {
    store: SessionStore,
}

/// The newest entries of a session.
pub(crate) struct Newest<E> {
    pub(crate) entries: Vec<E>,
    /// The number of older ones, which were dropped or are left out.
    pub(crate) older: u64,
}

/// A session in JSON.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Written<'a> {
    session_id: &'a str,
    kind: &'a str,
    title: &'a str,
    strategy: &'a str,
    is_complete: bool,
    /// In milliseconds since 1970.
    created: i64,
    updated: i64,
    older_entries: u64,
    entries: &'a [Box<RawValue>],
}

impl EntriesView {
    pub(crate) fn new(store: &SessionStore) -> Self {
        let store = store.clone();
        Self { store }
    }

    /// Returns the newest entries of a session.
    pub(crate) async fn newest<E: DeserializeOwned>(
        &self,
        owner: &Owner,
        session: &SessionHeader,
    ) -> Result<Newest<E>, StoreError> {
        let max_bytes = self.store.limits().resource_bytes;
        let bodies = self.store.newest_entries(owner, &session.id, max_bytes);
        let bodies = bodies.await?;

        let read = u64::try_from(bodies.len()).unwrap_or(u64::MAX);
        let entries = bodies.iter().map(|body| serde_json::from_str(body));
        let entries: Result<_, _> = entries.collect();
        let entries = entries.map_err(|error| {
            let id = &session.id;
            StoreError::new(format_args!("an entry of the session `{id}`: {error}"))
        })?;

        let older = session.entries.saturating_sub(read);
        Ok(Newest { entries, older })
    }

    /// Returns everything that is stored.
    pub(crate) async fn json(
        &self,
        owner: &Owner,
        session: &SessionHeader,
    ) -> Result<String, StoreError> {
        let newest = self.newest::<Box<RawValue>>(owner, session).await?;
        let written = Written {
            session_id: session.id.as_str(),
            kind: session.kind.as_str(),
            title: &session.title,
            strategy: &session.strategy,
            is_complete: session.is_complete,
            created: session.created,
            updated: session.updated,
            older_entries: newest.older,
            entries: &newest.entries,
        };
        serde_json::to_string(&written).map_err(StoreError::new)
    }
}
