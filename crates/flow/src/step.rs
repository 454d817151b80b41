//! Steps by name: the same names in every replay of a run.

use std::cell::RefCell;
use std::fmt::{self, Write};
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;

use cogwork_text::is_unsafe;
use tokio::time::Instant;

use crate::events::Watch;
use crate::journal::Journaled;
use crate::{EventKind, MemoryJournal, Phase};

/// A step of a run by name. `crawl/page#1[4]/fetch#2` is the second step of the flow over the fifth
/// item of the first step of `crawl`, at the node `fetch`.
///
/// Names are made from the flow and from how often it went on, so a run that is taken up again
/// gives its steps the same names. `Display` writes `/`, `#`, `[`, `]`, `%` and
/// [unsafe characters](cogwork_text::is_unsafe) inside names as `%2F` and so on: no two steps of a run are written
/// alike, and the text is safe to show.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct StepName {
    /// Where the node is: flows, items and branches, outermost first.
    pub within: Vec<Level>,
    /// The node.
    pub node: String,
    /// The number of the step in its flow's run, from 1.
    pub number: u64,
    /// The item of a [`Batch`](crate::Batch), from 0.
    pub item: Option<usize>,
}

/// One level of the way to a node.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Level {
    /// The outermost flow by its name, or a subflow by the name of its place.
    Flow(String),
    /// The flow over an item of an [`Each`](crate::Each).
    Item {
        /// The place of the items.
        node: String,
        /// The number of the step that runs over them.
        number: u64,
        /// Which one, from 0.
        index: usize,
    },
    /// A branch of [`Branches`](crate::Branches).
    Branch {
        /// The place of the branches.
        node: String,
        /// The number of the step that runs them.
        number: u64,
        /// The branch.
        branch: String,
    },
}

impl StepName {
    /// The same step, for one item of a batch.
    #[must_use]
    pub fn of_item(&self, index: usize) -> Self {
        Self { item: Some(index), ..self.clone() }
    }

    /// The node without the numbers, from the outermost flow on, as
    /// [`Flow::exec_item`](crate::Flow::exec_item) takes it: `page/fetch`.
    pub fn place(&self) -> String {
        let mut place = String::new();
        for level in self.within.iter().skip(1) {
            match level {
                Level::Flow(name) | Level::Item { node: name, .. } => {
                    let _ = write!(place, "{}/", Escaped(name));
                }
                Level::Branch { node, branch, .. } => {
                    let _ = write!(place, "{}/{}/", Escaped(node), Escaped(branch));
                }
            }
        }
        let _ = write!(place, "{}", Escaped(&self.node));
        place
    }
}

impl fmt::Display for StepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for level in &self.within {
            write!(f, "{level}/")?;
        }
        write!(f, "{}#{}", Escaped(&self.node), self.number)?;
        match self.item {
            Some(item) => write!(f, "[{item}]"),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Flow(name) => Escaped(name).fmt(f),
            Self::Item { node, number, index } => write!(f, "{}#{number}[{index}]", Escaped(node)),
            Self::Branch { node, number, branch } => {
                write!(f, "{}#{number}[{}]", Escaped(node), Escaped(branch))
            }
        }
    }
}

/// A name in which nothing reads as the end of it.
pub(crate) struct Escaped<'a>(pub(crate) &'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if matches!(character, '/' | '#' | '[' | ']' | '%') || is_unsafe(character) {
                for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                    write!(f, "%{byte:02X}")?;
                }
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

/// A name as it was before it was written so.
pub(crate) fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let [first, after @ ..] = rest {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = after.get(2..).unwrap_or_default();
            }
            _ => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// A step of a run that is watched or journaled.
#[derive(Clone)]
pub(crate) struct NamedStep<'j> {
    pub(crate) name: Arc<StepName>,
    /// Whether it is inside an item or a branch.
    pub(crate) inside: bool,
    pub(crate) watch: Option<Watch>,
    pub(crate) journal: Option<Journaled<'j>>,
    /// Keeps what a run waits for that has no journal.
    pub(crate) mailbox: Option<Arc<MemoryJournal>>,
}

impl NamedStep<'_> {
    pub(crate) fn of_item(&self, index: usize) -> Self {
        Self { name: Arc::new(self.name.of_item(index)), ..self.clone() }
    }

    pub(crate) fn tell(&self, kind: impl FnOnce() -> EventKind) {
        if let Some(watch) = &self.watch {
            watch.tell(Some(Arc::clone(&self.name)), kind());
        }
    }

    /// Does the work of a phase and tells how long it took.
    pub(crate) fn phase<T>(&self, phase: Phase, work: impl FnOnce() -> T) -> T {
        let started = self.started();
        let done = work();
        self.finished(phase, started);
        done
    }

    /// The same for `exec`. While it is polled, it is the current step.
    pub(crate) async fn exec<T>(&self, work: impl Future<Output = T>) -> T {
        let started = self.started();
        let Self { name, watch, journal, .. } = self;
        let run = journal.as_ref().map(|journal| Arc::clone(&journal.run));
        let current = Current::Step { name: Arc::clone(name), watch: watch.clone(), run };
        let done = current.during(work).await;
        self.finished(Phase::Exec, started);
        done
    }

    /// The clock is read for those who watch alone.
    fn started(&self) -> Option<Instant> {
        self.watch.as_ref().map(|_| Instant::now())
    }

    fn finished(&self, phase: Phase, started: Option<Instant>) {
        if let Some(started) = started {
            self.tell(|| EventKind::PhaseFinished { phase, took: started.elapsed() });
        }
    }

    /// What tells its work from all other; `None` without a journal.
    pub(crate) fn key(&self) -> Option<String> {
        self.journal.as_ref().map(|journal| key(&journal.run, &self.name))
    }
}

/// Tells of the step whose `exec` is being polled, if it is watched: wrappers around a node know
/// nothing of the run they are in.
pub(crate) fn tell_of_current(kind: impl FnOnce() -> EventKind) {
    let watched = CURRENT.with_borrow(|current| match current {
        Some(Current::Step { name, watch: Some(watch), .. }) => Some((Arc::clone(name), watch.clone())),
        _ => None,
    });
    // Outside of the borrow, as the closure may be anybody's.
    if let Some((name, watch)) = watched {
        watch.tell(Some(name), kind());
    }
}

fn key(run: &str, step: &StepName) -> String {
    // A colon ends the run's id, which may be any text.
    let run = run.replace('%', "%25").replace(':', "%3A");
    format!("{run}:{step}")
}

/// What tells this call of `exec` from every other, for a service that must not do the same twice:
/// the id of the run and the name of the step, `order 17:shop/charge#3`.
///
/// It is the same in every attempt, and again when the run is taken up after a crash in the middle of
/// the call. Ask inside `exec`, before anything is spawned. `None` outside of `exec`, and in a run
/// without a journal, whose ids and steps begin anew each time.
///
/// ```
/// use cogwork_flow::{Flow, MemoryJournal, from_phases, idempotency_key};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let charge = from_phases(
///     |amount: &mut u32| *amount,
///     |_amount: u32| async { Ok::<_, std::io::Error>(idempotency_key()) },
///     |_: &mut u32, key: Option<String>| assert_eq!(key.as_deref(), Some("order 17:shop/charge#1")),
/// );
/// let flow = Flow::builder("shop").start("charge").node("charge", charge).end("charge", "default").build()?;
/// flow.begin().journal(MemoryJournal::new("order 17")).finish(&mut 100).await?;
/// # Ok(())
/// # }
/// ```
pub fn idempotency_key() -> Option<String> {
    CURRENT.with_borrow(|current| match current.as_ref()? {
        Current::Step { name, run, .. } => run.as_ref().map(|run| key(run, name)),
        Current::Item(key) => Some(key.to_string()),
    })
}

/// What is being worked on.
#[derive(Clone)]
pub(crate) enum Current {
    /// A step by its name, and the id of its run where that is on record. Not with its journal, which
    /// may be gone sooner than this thread.
    Step { name: Arc<StepName>, watch: Option<Watch>, run: Option<Arc<str>> },
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
/// flow.begin().events_to(sink).finish(&mut String::new()).await?;
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

thread_local! {
    static CURRENT: RefCell<Option<Current>> = const { RefCell::new(None) };
}

/// Puts what was before back when it is dropped: a poll may run another node's inside.
struct Entered(Option<Current>);

impl Drop for Entered {
    fn drop(&mut self) {
        CURRENT.set(self.0.take());
    }
}
