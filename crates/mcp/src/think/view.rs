//! Sessions of `think` as resources.

use async_trait::async_trait;

use super::export::{Exporting, Format, export};
use super::state::{Begun, ThinkState};
use crate::resources::{EntriesView, SessionFormat, SessionView};
use crate::store::{Owner, RecordedSessions, SessionHeader, SessionId, SessionStore, StoreError};

/// Renders sessions of `think`.
pub(crate) struct ThinkView {
    sessions: RecordedSessions<ThinkState>,
    entries: EntriesView,
}

impl ThinkView {
    pub(crate) fn new(store: &SessionStore) -> Self {
        Self {
            sessions: RecordedSessions::new(store.clone()),
            entries: EntriesView::new(store),
        }
    }
}

#[async_trait]
impl SessionView for ThinkView {
    async fn render(
        &self,
        owner: &Owner,
        session: &SessionHeader,
        format: SessionFormat,
    ) -> Result<String, StoreError> {
        let format = match format {
            SessionFormat::Markdown => Format::Markdown,
            SessionFormat::Mermaid => Format::Mermaid,
            // A snapshot would repeat the tables of the strategies.
            SessionFormat::Json => return self.entries.json(owner, session).await,
        };

        let id = &session.id;
        let bytes = self.sessions.store().limits().export_bytes;
        let rendered = self.sessions.read(owner, id, |state| {
            let begun = state.begun();
            begun.map(|begun| newest(begun, id, format, bytes))
        });
        let rendered = rendered.await?.transpose().map_err(StoreError::new)?;
        Ok(rendered.unwrap_or_default())
    }
}

/// Exports as many of the newest thoughts as fit.
fn newest(begun: &Begun, id: &SessionId, format: Format, bytes: usize) -> Result<String, String> {
    let thoughts = begun.session.thoughts().len();
    let mut offset = 0;

    loop {
        let exported = export(
            format,
            &Exporting {
                id,
                purpose: &begun.purpose,
                session: &begun.session,
                offset,
                bytes,
            },
        )?;

        let Some(next) = exported.next_offset else {
            return Ok(exported.text);
        };
        // The next part is as long as this one, or shorter.
        let shown = next.saturating_sub(offset).max(1);
        offset = next.max(thoughts.saturating_sub(shown));
    }
}
