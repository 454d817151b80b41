//! The call of `exec` that is being polled, for code inside it that knows nothing of the run.

use std::cell::RefCell;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use crate::events::Watch;
use crate::{EventKind, StepName};

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// What is being worked on.
#[derive(Clone)]
pub(crate) enum Current {
    /// A step by its name, and the id of its run if that is on record. Not with its journal, which
    /// may be dropped before this thread ends.
    Step {
        name: Arc<StepName>,
        watch: Option<Watch>,
        run: Option<Arc<str>>,
    },
    /// An item that another process has sent here, by its key.
    Item(Arc<str>),
}

impl Current {
    /// Does work that is this while it is polled.
    pub(crate) async fn during<T>(self, work: impl Future<Output = T>) -> T {
        let mut work = pin!(work);

        poll_fn(|context| {
            let _entered = Entered(CURRENT.replace(Some(self.clone())));
            work.as_mut().poll(context)
        })
        .await
    }
}

/// Restores what was current before: a poll may run another node's inside.
struct Entered(Option<Current>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}

/// Tells those who watch the current step, if anybody does.
pub(crate) fn tell_of_current(kind: impl FnOnce() -> EventKind) {
    let watched = CURRENT.with_borrow(|current| match current {
        Some(Current::Step {
            name,
            watch: Some(watch),
            ..
        }) => Some((Arc::clone(name), watch.clone())),
        _ => None,
    });

    // Outside of the borrow, because the closure may be anybody's.
    if let Some((name, watch)) = watched {
        watch.tell(Some(name), kind());
    }
}

/// Tells those who watch the run how far `exec` is: the next piece of a text that grows, a part of the
/// work that is done. Where nobody watches, and outside of `exec`, nothing is made of it.
///
/// Notes are not recorded: a replay has none.
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
///     |text: &mut String, written: String| *text = written,
/// );
/// let flow = Flow::builder("paper").start("write").node("write", write).end("write", "default").build()?;
/// let (sink, mut told) = events(100);
/// flow.begin().with_events(sink).finish(&mut String::new()).await?;
/// let mut notes = Vec::new();
/// while let Some(event) = told.next().await {
///     if let EventKind::Noted { text } = event.kind {
///         notes.push(text);
///     }
/// }
/// assert_eq!(notes, ["half"]);
/// # Ok(())
/// # }
/// ```
pub fn note(text: impl FnOnce() -> String) {
    tell_of_current(|| EventKind::Noted { text: text() });
}

/// What tells this call of `exec` from every other, for a service that must not do the same twice:
/// the id of the run and the name of the step, `order 17:shop/charge#3`.
///
/// It is the same in every attempt, and again when the run is taken up after a crash in the middle of
/// the call. Ask inside `exec`, before anything is spawned. `None` outside of `exec`, and in a run
/// without a journal, whose ids and steps begin anew each time.
///
/// ```
/// use cogwork_flow::journal::MemoryJournal;
/// use cogwork_flow::{Flow, from_phases, idempotency_key};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let charge = from_phases(
///     |amount: &mut u32| *amount,
///     |_amount: u32| async { Ok::<_, std::io::Error>(idempotency_key()) },
///     |_: &mut u32, key: Option<String>| assert_eq!(key.as_deref(), Some("order 17:shop/charge#1")),
/// );
/// let flow = Flow::builder("shop").start("charge").node("charge", charge).end("charge", "default").build()?;
/// flow.begin().with_journal(MemoryJournal::new("order 17")).finish(&mut 100).await?;
/// # Ok(())
/// # }
/// ```
pub fn idempotency_key() -> Option<String> {
    CURRENT.with_borrow(|current| match current.as_ref()? {
        Current::Step { name, run, .. } => run.as_ref().map(|run| key(run, name)),
        Current::Item(key) => Some(key.to_string()),
    })
}

/// Returns the key of a step in the run of this id.
pub(crate) fn key(run: &str, step: &StepName) -> String {
    // A colon ends the run's id, which may be any text.
    let run = run.replace('%', "%25").replace(':', "%3A");
    format!("{run}:{step}")
}
