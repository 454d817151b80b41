//! Sessions of `begin` and `answer` as resources.

use async_trait::async_trait;

use super::progress::EndKind;
use super::session::{Begun, GuidedSession};
use crate::resources::{EntriesView, SessionFormat, SessionView, Shown, ShownThought};
use crate::store::{Owner, RecordedSessions, SessionHeader, SessionStore, StoreError};

/// Renders sessions of `begin` and `answer`.
pub(crate) struct GuidedView {
    sessions: RecordedSessions<GuidedSession>,
    entries: EntriesView,
}

impl GuidedView {
    pub(crate) fn new(store: &SessionStore) -> Self {
        Self {
            sessions: RecordedSessions::new(store.clone()),
            entries: EntriesView::new(store),
        }
    }
}

#[async_trait]
impl SessionView for GuidedView {
    async fn render(
        &self,
        owner: &Owner,
        session: &SessionHeader,
        format: SessionFormat,
    ) -> Result<String, StoreError> {
        if format == SessionFormat::Json {
            return self.entries.json(owner, session).await;
        }

        let rendered = self.sessions.read_once(owner, &session.id, |state| {
            let shown = Shown::of(session);
            let begun = state.begun();
            match begun {
                Some(begun) => with(shown, begun).render(format),
                None => shown.render(format),
            }
        });
        rendered.await
    }
}

fn with(mut shown: Shown, begun: &Begun) -> Shown {
    let done = begun.done();
    shown.problem = Some(begun.settings().problem.clone());

    if let Some(end) = begun.end() {
        let outcome = match end.kind {
            EndKind::Answered => "answered",
            EndKind::Stopped => "stopped",
            EndKind::Failed => "failed",
        };
        shown.facts.push(("Outcome", outcome.to_owned()));
        shown.facts.push(("Reason", end.reason));
        shown.answer = done.best.map(|best| best.conclusion.unwrap_or(best.text));
    }

    let thoughts = done.thoughts.into_iter().zip(1_u64..);
    let thoughts = thoughts.map(|(thought, number)| ShownThought {
        number,
        label: thought.stage,
        parents: (number > 1)
            .then(|| number.saturating_sub(1))
            .into_iter()
            .collect(),
        text: thought.text,
        ..ShownThought::default()
    });
    shown.thoughts = thoughts.collect();
    shown
}
