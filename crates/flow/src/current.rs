//! The call of `exec` that is being polled, for code inside it that has no access to the run.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use crate::execute::named_step::NamedStep;
use crate::execute::recorder::Calls;
use crate::spans;
use crate::watch::EventKind;

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// The step whose code is being polled.
#[derive(Clone)]
pub(crate) struct Current {
    pub(crate) step: NamedStep,
    /// Whether it is in `exec`. A replay repeats the other phases.
    pub(crate) is_exec: bool,
    /// The calls of a composite step.
    pub(crate) calls: Option<Arc<Calls>>,
}

impl Current {
    /// Makes this the current step while `work` is polled. It is pinned by the caller, because the
    /// future of a node may be large, and each function that took it by value would contain and move
    /// another copy.
    pub(crate) async fn during<F: Future + Unpin>(self, mut work: F) -> F::Output {
        poll_fn(|context| {
            // Set for each poll, because other steps may be polled on this thread in between.
            let _entered = Entered(CURRENT.replace(Some(self.clone())));
            Pin::new(&mut work).poll(context)
        })
        .await
    }

    /// Makes this the current step while a synchronous phase runs.
    pub(crate) fn during_phase<T>(self, work: impl FnOnce() -> T) -> T {
        // A guard, so that a panic of the phase doesn't leave its step on the thread.
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

/// Returns what `read` finds in the current step; `None` outside of a node.
fn of_current<T>(read: impl FnOnce(&Current) -> Option<T>) -> Option<T> {
    CURRENT.with_borrow(|current| current.as_ref().and_then(read))
}

fn step() -> Option<NamedStep> {
    // Cloned, so that nothing is borrowed while code runs that may set another step.
    of_current(|current| Some(current.step.clone()))
}

/// Returns whether the events of the current run are read, so that preparing a
/// [`report_from`](crate::watch::report_from) is worth its cost. Outside of a node, returns `false`.
pub fn is_watched() -> bool {
    step().is_some_and(|step| step.is_watched(false))
}

/// Returns whether anyone follows texts of the current run while they grow, so that preparing a
/// [`report_growth`](crate::watch::report_growth) is worth its cost. Outside of a node, returns `false`.
pub fn is_followed() -> bool {
    step().is_some_and(|step| step.is_watched(true))
}

/// Emits an event of the current step, or a piece of a text that grows, to those who want it.
pub(crate) fn emit(is_growth: bool, kind: impl FnOnce() -> EventKind) {
    if let Some(step) = step() {
        step.emit_if_wanted(is_growth, kind);
    }
}

/// Returns the calls of the composite step that is being polled.
pub(crate) fn calls() -> Option<Arc<Calls>> {
    of_current(|current| current.calls.clone())
}

/// Emits an [`EventKind::Noted`](crate::watch::EventKind::Noted) event from inside any phase of a node, for
/// example with the next chunk of a stream or the progress of the work. The closure isn't called
/// outside of a node, or if the run isn't watched.
///
/// Notes aren't recorded. A replay calls `prep` and `post` again, but not `exec`, so it repeats the
/// notes of the former only. To emit values of other types, use [`report_from`](crate::watch::report_from).
///
/// ```
/// use cogwork_flow::watch::{EventKind, events, note};
/// use cogwork_flow::{Flow, from_phases};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let write = from_phases(
///     |_: &mut String| (),
///     |()| async {
///         note(|| "half".to_owned());
///         Ok::<_, std::io::Error>("half and whole".to_owned())
///     },
///     |text, written| *text = written,
/// );
/// let flow = Flow::builder("paper").start("write").node("write", write).end("write", "default").build()?;
/// let (sink, mut stream) = events(100);
/// flow.begin().with_events(sink).finish(&mut String::new()).await?;
/// let mut notes = Vec::new();
/// while let Some(event) = stream.next().await {
///     if let EventKind::Noted { text, .. } = event.kind {
///         notes.push(text);
///     }
/// }
/// assert_eq!(notes, ["half"]);
/// # Ok(())
/// # }
/// ```
pub fn note(text: impl FnOnce() -> String) {
    emit_note(false, text);
}

/// Emits a note with the next piece of a text that a later event contains as a whole, such as a
/// streamed reply. [Recorders](crate::watch::Observer) don't get it unless they follow texts while they
/// grow. Otherwise, this is the same as [`note`].
pub fn note_growth(text: impl FnOnce() -> String) {
    emit_note(true, text);
}

fn emit_note(is_growth: bool, text: impl FnOnce() -> String) {
    // A node may also be called outside of a run, as in a test of it.
    let Some(step) = step() else {
        return;
    };
    if !step.is_watched(is_growth) && !spans::are_notes_wanted() {
        return;
    }

    // Made once, for the subscriber and for the events.
    let text = text();
    spans::noted(&text);
    step.emit_if_wanted(is_growth, || EventKind::Noted { text, is_growth });
}

/// Returns a key that is unique to this call of `exec`: the id of the run and the name of the step,
/// as in `order 17:shop/charge#3`. Pass it to a service that must not do the same work twice.
///
/// The key is the same in every attempt, and also when the run is resumed after a crash during the
/// call. Call this function inside `exec` itself, before spawning tasks. Returns `None` outside of
/// `exec`, and in a run without a journal, because the ids and step numbers of such a run start
/// over each time. Inside [`recorded`](crate::engine::recorded), it is the key of that call, which
/// is the same if the call is made again because it failed, and differs in each attempt at the step.
///
/// ```
/// use cogwork_flow::engine::MemoryJournal;
/// use cogwork_flow::{Flow, from_phases, idempotency_key};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let charge = from_phases(
///     |amount: &mut u32| *amount,
///     |_amount| async { Ok::<_, std::io::Error>(idempotency_key()) },
///     |_, key| assert_eq!(key.as_deref(), Some("order 17:shop/charge#1")),
/// );
/// let flow = Flow::builder("shop").start("charge").node("charge", charge).end("charge", "default").build()?;
/// flow.begin().with_journal(MemoryJournal::new("order 17")).finish(&mut 100).await?;
/// # Ok(())
/// # }
/// ```
pub fn idempotency_key() -> Option<String> {
    of_current(|current| {
        // Replays repeat `prep` and `post`, so what a key protects doesn't belong there.
        let journal = current.step.journal().filter(|_| current.is_exec)?;
        Some(current.step.name.key_in(journal.run_id()))
    })
}
