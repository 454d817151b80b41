//! Sessions of `think` as resources.

use super::export::{Exporting, head, thought};
use super::state::{Begun, ThinkState};
use crate::shown::{Shown, markdown};
use crate::store::{Owner, RecordedSessions, SessionHeader, SessionId, SessionStore, StoreError};

/// Returns what is shown of a session.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let sessions = RecordedSessions::<ThinkState>::new(store.clone());
    let bytes = store.limits().export_bytes;
    let shown = sessions.read(owner, &session.id, |state| {
        state.begun().map(|begun| newest(begun, &session.id, bytes))
    });
    Ok(shown.await?.unwrap_or_default())
}

/// Returns as many of the newest thoughts as fit.
fn newest(begun: &Begun, id: &SessionId, bytes: usize) -> Shown {
    let session = &begun.session;
    let mut shown = head(&Exporting {
        id,
        purpose: &begun.purpose,
        session,
        offset: 0,
        bytes,
    });

    let mut left = bytes;
    for one in session.thoughts().iter().rev() {
        let one = thought(session, one);
        left = left.saturating_sub(markdown::thought(&one).len());
        if left == 0 && !shown.thoughts.is_empty() {
            break;
        }
        shown.thoughts.push(one);
    }
    shown.thoughts.reverse();

    let older = session
        .thoughts()
        .len()
        .saturating_sub(shown.thoughts.len());
    shown.older = u64::try_from(older).unwrap_or(u64::MAX);
    shown
}
