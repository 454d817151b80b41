//! Sessions of `begin` and `answer` as resources.

use super::progress::{Done, EndKind, newest};
use super::service::on_own_thread;
use super::session::{Begun, GuidedSession};
use crate::shown::{Shown, ShownThought};
use crate::store::{Owner, RecordedSessions, SessionHeader, SessionStore, StoreError};

/// Returns what is shown of a session.
pub(crate) async fn shown(
    store: &SessionStore,
    owner: &Owner,
    session: &SessionHeader,
) -> Result<Shown, StoreError> {
    let sessions = RecordedSessions::<GuidedSession>::new(store.clone());
    let owner = owner.clone();
    let session = session.clone();

    on_own_thread(async move {
        let bytes = sessions.store().limits().export_bytes;
        let shown = sessions.read(&owner, &session.id, |state| {
            let shown = Shown::of(&session);
            match state.begun() {
                Some(begun) => with(shown, begun, bytes),
                None => shown,
            }
        });
        shown.await
    })
    .await
}

/// Adds what was done in a session, and its newest thoughts up to this many bytes.
fn with(mut shown: Shown, begun: &Begun, bytes: usize) -> Shown {
    shown.problem = Some(begun.settings().problem.clone());

    let end = begun.end();
    let is_ended = end.is_some();
    if let Some(end) = end {
        let outcome = match end.kind {
            EndKind::Answered => "answered",
            EndKind::Stopped => "stopped",
            EndKind::Failed => "failed",
        };
        shown.facts.push(("Outcome", outcome.to_owned()));
        shown.facts.push(("Reason", end.reason));
    }

    begun.with_done(|done| with_thoughts(shown, done, is_ended, bytes))
}

fn with_thoughts(mut shown: Shown, done: &Done, is_ended: bool, bytes: usize) -> Shown {
    if is_ended && let Some(best) = &done.best {
        let answer = best.conclusion.as_ref().unwrap_or(&best.text);
        shown.answer = Some(answer.clone());
    }

    let older = newest(&done.thoughts, bytes);
    let thoughts = done.thoughts.iter().zip(1_u64..).skip(older);
    let thoughts = thoughts.map(|(thought, number)| ShownThought {
        number,
        label: thought.stage.clone(),
        parents: (number > 1)
            .then(|| number.saturating_sub(1))
            .into_iter()
            .collect(),
        text: thought.text.clone(),
        ..ShownThought::default()
    });

    shown.thoughts = thoughts.collect();
    shown.older = u64::try_from(older).unwrap_or(u64::MAX);
    shown
}
