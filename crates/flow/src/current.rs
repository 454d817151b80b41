//! The call of `exec` that is being polled, for code inside it that has no access to the run.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use crate::events::Watch;
use crate::execute::recorder::Calls;
use crate::{EventKind, StepName, spans};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The step whose code is being polled.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) name: Arc<StepName>,
    pub(crate) watch: Option<Watch>,
    /// The id of the run, in `exec` of a run with a journal.
    pub(crate) run: Option<Arc<str>>,
    /// The calls of a composite step.
    pub(crate) calls: Option<Arc<Calls>>,
}

impl Current {
    /// Makes this the current step while `work` is polled. It is pinned by the caller, because the
    /// future of a node may be large, and each function that took it by value would contain and move
    /// another copy.
    pub(crate) async fn during<F: Future + Unpin>(self, mut work: F) -> F::Output {
        poll_fn(|context| {
            let _entered = Entered(CURRENT.replace(Some(self.clone())));
            Pin::new(&mut work).poll(context)
        })
        .await
    }

    /// Makes this the current step while a synchronous phase runs.
    pub(crate) fn during_phase<T>(self, work: impl FnOnce() -> T) -> T {
        let _entered = Entered(CURRENT.replace(Some(self)));
        work()
    }
}

/// Restores the previous value, since the poll of one node may poll a different node inside it.
struct Entered(Option<Current>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Returns whether the events of the current run are read, so that preparing a
/// [`report_from`](crate::report_from) is worth its cost. Outside of a node, returns `false`.
pub fn is_watched() -> bool {
    watched().is_some()
}

fn watched() -> Option<(Arc<StepName>, Watch)> {
    CURRENT.with_borrow(|current| {
        let current = current.as_ref()?;
        let watch = current.watch.clone()?;
        Some((Arc::clone(&current.name), watch))
    })
}

/// Returns whether anyone follows texts of the current run while they grow, so that preparing a
/// [`report_growth`](crate::report_growth) is worth its cost. Outside of a node, returns `false`.
pub fn is_followed() -> bool {
    watched().is_some_and(|(_, watch)| watch.follows_growth())
}

/// Emits a piece of a text if anyone follows texts of the current step while they grow.
pub(crate) fn emit_growth(kind: impl FnOnce() -> EventKind) {
    let followed = watched().filter(|(_, watch)| watch.follows_growth());

    if let Some((name, watch)) = followed {
        watch.emit_growth(Some(name), kind());
    }
}

/// Emits an event of the current step if the run is watched.
pub(crate) fn emit(kind: impl FnOnce() -> EventKind) {
    let watched = watched();

    // Outside of the borrow, because the closure may run any code.
    if let Some((name, watch)) = watched {
        watch.emit(Some(name), kind());
    }
}

/// Returns the calls of the composite step that is being polled.
pub(crate) fn calls() -> Option<Arc<Calls>> {
    CURRENT.with_borrow(|current| current.as_ref()?.calls.clone())
}

/// Returns whether `exec` of a step with a journal is being polled.
pub(crate) fn is_recorded() -> bool {
    CURRENT.with_borrow(|current| current.as_ref().is_some_and(|step| step.run.is_some()))
}

/// Emits an [`EventKind::Noted`](crate::EventKind::Noted) event from inside any phase of a node, for
/// example with the next chunk of a stream or the progress of the work. The closure isn't called
/// outside of a node, or if the run isn't watched.
///
/// Notes aren't recorded. A replay calls `prep` and `post` again, but not `exec`, so it repeats the
/// notes of the former only. To emit values of other types, use [`report_from`](crate::report_from).
///
/// ```
/// use cogwork_flow::{EventKind, Flow, events, from_phases, note};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let write = from_phases(
///     |_: &mut String| (),
///     |()| async {
///         note(|| "half".to_owned());
///         Ok::<_, std::io::Error>("half and whole".to_owned())
///     },
///     |text, _, written| *text = written,
/// );
/// let flow = Flow::builder("paper").start("write").node("write", write).end("write", "default").build()?;
/// let (sink, mut stream) = events(100);
/// flow.begin().with_events(sink).finish(&mut String::new()).await?;
/// let mut notes = Vec::new();
/// while let Some(event) = stream.next().await {
///     if let EventKind::Noted { text } = event.kind {
///         notes.push(text);
///     }
/// }
/// assert_eq!(notes, ["half"]);
/// # Ok(())
/// # }
/// ```
pub fn note(text: impl FnOnce() -> String) {
    emit_note(watched(), Watch::emit, text);
}

/// Emits a note with the next piece of a text that a later event contains as a whole, such as a
/// streamed reply. [Recorders](crate::Observer) don't get it unless they follow texts while they
/// grow. Otherwise, this is the same as [`note`].
pub fn note_growth(text: impl FnOnce() -> String) {
    let followed = watched().filter(|(_, watch)| watch.follows_growth());
    emit_note(followed, Watch::emit_growth, text);
}

fn emit_note(
    watched: Option<(Arc<StepName>, Watch)>,
    emit: impl FnOnce(&Watch, Option<Arc<StepName>>, EventKind),
    text: impl FnOnce() -> String,
) {
    let is_in_step = CURRENT.with_borrow(Option::is_some);
    let is_traced = is_in_step && spans::are_notes_wanted();
    if watched.is_none() && !is_traced {
        return;
    }

    let text = text();
    spans::noted(&text);

    if let Some((name, watch)) = watched {
        emit(&watch, Some(name), EventKind::Noted { text });
    }
}

/// Returns a key that is unique to this call of `exec`: the id of the run and the name of the step,
/// as in `order 17:shop/charge#3`. Pass it to a service that must not do the same work twice.
///
/// The key is the same in every attempt, and also when the run is resumed after a crash during the
/// call. Call this function inside `exec` itself, before spawning tasks. Returns `None` outside of
/// `exec`, and in a run without a journal, because the ids and step numbers of such a run start
/// over each time. Inside [`journal::recorded`](crate::journal::recorded), it is the key of that
/// call, which differs in each attempt at the step.
///
/// ```
/// use cogwork_flow::journal::MemoryJournal;
/// use cogwork_flow::{Flow, from_phases, idempotency_key};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let charge = from_phases(
///     |amount: &mut u32| *amount,
///     |_amount| async { Ok::<_, std::io::Error>(idempotency_key()) },
///     |_, _, key| assert_eq!(key.as_deref(), Some("order 17:shop/charge#1")),
/// );
/// let flow = Flow::builder("shop").start("charge").node("charge", charge).end("charge", "default").build()?;
/// flow.begin().with_journal(MemoryJournal::new("order 17")).finish(&mut 100).await?;
/// # Ok(())
/// # }
/// ```
pub fn idempotency_key() -> Option<String> {
    CURRENT.with_borrow(|current| {
        let current = current.as_ref()?;
        let run = current.run.as_ref()?;
        Some(current.name.key_in(run))
    })
}
