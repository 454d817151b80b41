//! The views of all kinds of sessions.

use rmcp::ErrorData;

use super::sequential::SequentialView;
use super::{SessionFormat, SessionView};
use crate::guided::GuidedView;
use crate::solve::SolveView;
use crate::store::{Owner, SessionHeader, SessionKind, SessionStore};
use crate::think::ThinkView;

/// The views of all kinds.
pub(crate) struct Views {
    sequential: SequentialView,
    think: ThinkView,
    guided: GuidedView,
    solve: SolveView,
}

impl Views {
    pub(crate) fn new(store: &SessionStore) -> Self {
        Self {
            sequential: SequentialView::new(store),
            think: ThinkView::new(store),
            guided: GuidedView::new(store),
            solve: SolveView::new(store),
        }
    }

    fn of(&self, kind: SessionKind) -> &dyn SessionView {
        match kind {
            SessionKind::Sequential => &self.sequential,
            SessionKind::Think => &self.think,
            SessionKind::Guided => &self.guided,
            SessionKind::Solve => &self.solve,
        }
    }

    /// Returns a session as a text.
    pub(super) async fn render(
        &self,
        owner: &Owner,
        session: &SessionHeader,
        format: SessionFormat,
    ) -> Result<String, ErrorData> {
        let rendered = self.of(session.kind).render(owner, session, format).await;
        rendered.map_err(|error| ErrorData::internal_error(error.to_string(), None))
    }
}
