use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cogwork_text::{ErrorText, Name, NameList, OneLine};

use crate::stop::Stopped;
use crate::visit::{Failed, Failure};
use crate::wiring::Place;
use crate::{Action, BoxError, Paused, StepName};

/// A phase of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Phase {
    /// Takes from the state.
    Prep,
    /// Does the work.
    Exec,
    /// Puts back and chooses the action.
    Post,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Prep => "prep",
            Self::Exec => "exec",
            Self::Post => "post",
        })
    }
}

/// Why a run stopped before an end, and where.
///
/// `{}` is one line that names flow, node, phase and attempts, and ends with the source's own
/// line; `{:#}` shows the source in its longer form. Control characters in names are escaped and
/// long names cut; [`flow_path`](RunError::flow_path) and [`node`](RunError::node) have them whole.
///
/// The state is as after the last whole step, and then whatever the node's own `prep` and `post`
/// did to it before the error.
///
/// ```
/// use cogwork_flow::{Flow, Phase, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let flow = Flow::builder("load")
///     .start("read")
///     .node("read", from_fn(|path: &mut String| Err::<(), _>(std::io::Error::other(format!("no file {path}")))))
///     .end("read", "default")
///     .build()?;
/// let error = flow.run(&mut "a.txt".to_owned()).await.unwrap_err();
/// assert_eq!(error.to_string(), "flow `load`, node `read`: post failed: no file a.txt");
/// assert_eq!((error.node(), error.phase()), ("read", Some(Phase::Post)));
/// assert!(error.downcast_ref::<std::io::Error>().is_some());
/// # Ok(())
/// # }
/// ```
pub struct RunError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    flow_path: Vec<String>,
    node: String,
    /// In a run that is watched or journaled.
    step: Option<Arc<StepName>>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Node(Box<Failed>),
    Panicked(String),
    UndeclaredAction { action: Action, declared: Vec<Action> },
    StepLimit { limit: u64 },
    Stopped(Stopped),
    Paused(Box<Paused>),
    Journal(BoxError),
    NoJournal { what: &'static str },
    UnknownEvent { event: String, known: Vec<String> },
    NoBatch,
}

impl RunError {
    #[cold]
    pub(crate) fn failed(flow_path: Vec<String>, node: &str, failure: Failure) -> Self {
        let kind = match failure {
            Failure::Node(failed) => Kind::Node(failed),
            Failure::Panicked(panic) => Kind::Panicked(panic),
            Failure::Paused(paused) => Kind::Paused(paused),
            Failure::Journal(error) => Kind::Journal(error),
            Failure::NoJournal(what) => Kind::NoJournal { what },
            Failure::Inside(inside) => {
                let (label, error) = *inside;
                let mut around = flow_path;
                around.push(format!("{node}{label}"));
                return error.inside(around);
            }
        };
        Self::new(flow_path, node, kind)
    }

    pub(crate) fn no_batch(flow: &str, place: &str) -> Self {
        Self::new(vec![flow.to_owned()], place, Kind::NoBatch)
    }

    pub(crate) fn unknown_event(flow_path: Vec<String>, node: &str, event: &str, known: Vec<String>) -> Self {
        Self::new(flow_path, node, Kind::UnknownEvent { event: event.to_owned(), known })
    }

    #[cold]
    pub(crate) fn undeclared(flow_path: Vec<String>, place: &Place, action: Action) -> Self {
        let declared = place.exits.iter().map(|exit| exit.action.clone()).collect();
        Self::new(flow_path, &place.name, Kind::UndeclaredAction { action, declared })
    }

    #[cold]
    pub(crate) fn step_limit(flow_path: Vec<String>, node: &str, limit: u64) -> Self {
        Self::new(flow_path, node, Kind::StepLimit { limit })
    }

    pub(crate) fn stopped(flow_path: Vec<String>, node: &str, stopped: Stopped) -> Self {
        Self::new(flow_path, node, Kind::Stopped(stopped))
    }

    /// The same error, seen from the flow in whose place `around` the run inside was: the place's
    /// name says more than that of the flow which stands there.
    fn inside(mut self, mut around: Vec<String>) -> Self {
        around.extend(self.0.flow_path.drain(..).skip(1));
        self.0.flow_path = around;
        self
    }

    /// The same error with its step, unless it has one from inside.
    pub(crate) fn at(mut self, step: impl FnOnce() -> Arc<StepName>) -> Self {
        self.0.step.get_or_insert_with(step);
        self
    }

    pub(crate) fn step(&self) -> Option<&Arc<StepName>> {
        self.0.step.as_ref()
    }

    fn new(flow_path: Vec<String>, node: &str, kind: Kind) -> Self {
        Self(Box::new(Inner { flow_path, node: node.to_owned(), step: None, kind }))
    }

    /// The name of the flow, then the names under which the subflows, items (`pages[4]`) and
    /// branches down to the node stand in the flows around them.
    pub fn flow_path(&self) -> &[String] {
        &self.0.flow_path
    }

    /// The name of the node that failed, or that was next.
    pub fn node(&self) -> &str {
        &self.0.node
    }

    /// The phase that failed, where a node failed.
    pub fn phase(&self) -> Option<Phase> {
        self.failure().map(|failure| failure.phase)
    }

    /// How often the failed phase was tried, where a node failed. Of retries inside retries, the
    /// outermost count.
    pub fn attempts(&self) -> Option<u32> {
        self.failure().map(|failure| failure.attempts)
    }

    /// Whether the run reached its limit of steps. Raise it and go on: the run is not lost.
    pub fn is_step_limit(&self) -> bool {
        matches!(self.0.kind, Kind::StepLimit { .. })
    }

    /// Whether the run reached its deadline.
    pub fn is_deadline(&self) -> bool {
        matches!(self.0.kind, Kind::Stopped(Stopped::Deadline))
    }

    /// Whether the run was cancelled by its token.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0.kind, Kind::Stopped(Stopped::Cancelled))
    }

    /// Whether the node panicked. Where `prep` or `post` did, the state is as the panic left it.
    pub fn is_panic(&self) -> bool {
        matches!(self.0.kind, Kind::Panicked(_))
    }

    /// Whether the run waits for an event; what [`Run::advance`](crate::Run::advance) would have
    /// answered.
    pub fn paused(&self) -> Option<&Paused> {
        match &self.0.kind {
            Kind::Paused(paused) => Some(paused),
            _ => None,
        }
    }

    pub(crate) fn paused_mut(&mut self) -> Option<&mut Paused> {
        match &mut self.0.kind {
            Kind::Paused(paused) => Some(paused),
            _ => None,
        }
    }

    pub(crate) fn into_paused(self) -> Result<Paused, Self> {
        match self.0.kind {
            Kind::Paused(paused) => Ok(*paused),
            kind => Err(Self(Box::new(Inner { kind, ..*self.0 }))),
        }
    }

    /// Whether the run's journal failed, or has an outcome on record that the node cannot read. The
    /// run may go on over a journal that is in order.
    pub fn is_journal(&self) -> bool {
        matches!(self.0.kind, Kind::Journal(_))
    }

    /// The item of a [`Batch`](crate::Batch) that failed, from 0.
    pub fn item(&self) -> Option<usize> {
        self.failure()?.item
    }

    /// Whether `post` answered a label that its node does not declare. `post` has then run.
    pub fn is_undeclared_action(&self) -> bool {
        matches!(self.0.kind, Kind::UndeclaredAction { .. })
    }

    /// The node's own error, or the journal's, if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.cause()?.downcast_ref()
    }

    /// The node's own error, or the journal's, by value.
    pub fn into_source(self) -> Option<BoxError> {
        match self.0.kind {
            Kind::Node(failure) => Some(failure.source),
            Kind::Journal(error) => Some(error),
            _ => None,
        }
    }

    fn failure(&self) -> Option<&Failed> {
        match &self.0.kind {
            Kind::Node(failure) => Some(failure),
            _ => None,
        }
    }

    fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        match &self.0.kind {
            Kind::Node(failure) => Some(failure.source.as_ref()),
            Kind::Journal(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { flow_path, node, kind, step: _ } = self.0.as_ref();
        for (index, flow) in flow_path.iter().enumerate() {
            write!(f, "{}{}", if index == 0 { "flow `" } else { "/" }, Name(flow))?;
        }
        write!(f, "`, node `{}`", Name(node))?;
        if let Some(item) = self.item() {
            write!(f, ", item {item}")?;
        }
        f.write_str(": ")?;
        match kind {
            Kind::Node(failed) => {
                write!(f, "{} failed", failed.phase)?;
                if failed.attempts > 1 {
                    write!(f, " after {} attempts", failed.attempts)?;
                }
                f.write_str(": ")?;
                ErrorText(&failed.source).fmt(f)
            }
            Kind::Panicked(panic) => {
                f.write_str("it panicked: ")?;
                ErrorText(panic).fmt(f)
            }
            Kind::Paused(paused) => {
                write!(f, "the run waits for the event `{}`", Name(&paused.event))?;
                if paused.why.is_empty() { Ok(()) } else { write!(f, ": {}", OneLine::new(&paused.why)) }
            }
            Kind::Journal(error) => {
                f.write_str("the journal failed: ")?;
                ErrorText(error).fmt(f)
            }
            Kind::UndeclaredAction { action, declared } => {
                write!(
                    f,
                    "post answered the action `{}`, which the node does not declare; it declares {}",
                    Name(action.as_str()),
                    NameList::and(declared)
                )
            }
            Kind::StepLimit { limit } => {
                let plural = if *limit == 1 { "" } else { "s" };
                write!(f, "the run reached its limit of {limit} step{plural} before this node")
            }
            Kind::NoJournal { what } => write!(
                f,
                "{what} inside items or branches needs a journal; give the run one with `Run::journal`"
            ),
            Kind::UnknownEvent { event, known } => {
                let known = NameList::and(known);
                write!(f, "no node waits for the event `{}`; the flow waits for {known}", Name(event))
            }
            Kind::NoBatch => f.write_str("no batch stands there"),
            Kind::Stopped(Stopped::Deadline) => f.write_str("the run reached its deadline at this node"),
            Kind::Stopped(Stopped::Cancelled) => f.write_str("the run was cancelled at this node"),
        }
    }
}

impl fmt::Debug for RunError {
    /// The sentence of `{:#}`: what a program shows that returns the error from `main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}
