use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cogwork_text::Name;

use crate::engine::StepName;
use crate::execute::failure::{Failed, Failure, Stopped};
use crate::nodes::Phase;
use crate::{BoxError, Paused};

/// The error of a run that stopped before its end: the reason and the location.
///
/// A [pause](RunError::paused) is also reported as this error, although it isn't a failure.
///
/// `{}` writes one line: the flow, node, phase and number of attempts, followed by the source.
/// `{:#}` writes the longer form of the source. Both escape control characters in names and shorten
/// long names; [`flow_path`](RunError::flow_path) and [`node`](RunError::node) return them
/// unchanged.
///
/// After an error, the state is as it was after the last complete step, except for changes that
/// `prep` and `post` of the failed node made before the error.
///
/// ```
/// use cogwork_flow::nodes::Phase;
/// use cogwork_flow::{Flow, from_fn};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let read = from_fn(|path: &mut String| {
///     std::fs::read_to_string(&path)?;
///     Ok(())
/// });
/// let flow = Flow::from_node("read", read)?;
/// let error = flow.run(&mut "no such file".to_owned()).await.unwrap_err();
/// assert!(error.to_string().starts_with("flow `read`, node `read`: post failed: "));
/// assert_eq!((error.node(), error.phase()), ("read", Some(Phase::Post)));
/// assert!(error.downcast_ref::<std::io::Error>().is_some());
/// # Ok(())
/// # }
/// ```
pub struct RunError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    location: Location,
    /// Only if the run is watched or has a journal.
    step: Option<Arc<StepName>>,
    failure: Failure,
}

impl RunError {
    /// Creates the error of a run that stopped at `location`.
    #[cold]
    pub(crate) fn new(mut location: Location, failure: Failure) -> Self {
        // An error from an item or a branch keeps its node, and only its path becomes longer.
        if let Failure::Inside { label, mut error } = failure {
            location.node.push_str(&label);
            error.0.location.put_inside(location);
            return error;
        }

        Self(Box::new(Inner {
            location,
            step: None,
            failure,
        }))
    }

    /// Adds the step, unless the error already has one from inside.
    pub(crate) fn at(mut self, step: impl FnOnce() -> Arc<StepName>) -> Self {
        // The innermost step is named, and each walk around it calls this, too.
        self.0.step.get_or_insert_with(step);
        self
    }

    pub(crate) fn step(&self) -> Option<&Arc<StepName>> {
        self.0.step.as_ref()
    }

    pub(crate) fn paused_mut(&mut self) -> Option<&mut Paused> {
        self.0.failure.paused_mut()
    }

    pub(crate) fn kind(&self) -> &'static str {
        self.0.failure.kind()
    }

    /// Returns the path to the node: the name of the flow, then the names of the places of the
    /// subflows, items (`pages[4]`) and branches.
    pub fn flow_path(&self) -> &[String] {
        &self.0.location.flow_path
    }

    /// Returns the name of the node that failed, or of the next node if none failed.
    pub fn node(&self) -> &str {
        &self.0.location.node
    }

    /// Returns the phase that failed, if a node failed.
    pub fn phase(&self) -> Option<Phase> {
        self.failed().map(|failed| failed.phase)
    }

    /// Returns the number of attempts at the failed phase, if a node failed. With nested retries,
    /// only the attempts of the outermost retry are counted.
    pub fn attempts(&self) -> Option<u32> {
        self.failed().map(|failed| failed.error.attempts)
    }

    /// Returns whether the run reached its maximum number of steps. Raise it to continue the run.
    pub fn is_step_limit(&self) -> bool {
        matches!(self.0.failure, Failure::StepLimit { .. })
    }

    /// Returns whether the run reached its deadline.
    pub fn is_deadline(&self) -> bool {
        matches!(self.0.failure, Failure::Stopped(Stopped::Deadline))
    }

    /// Returns whether the run was cancelled by its token.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0.failure, Failure::Stopped(Stopped::Cancelled))
    }

    /// Returns whether the node panicked. After a panic in `prep` or `post`, the state may be
    /// partly changed.
    pub fn is_panic(&self) -> bool {
        matches!(self.0.failure, Failure::Panicked(_))
    }

    /// Returns where the run paused and what it waits for; `None` if it stopped for a different
    /// reason. A pause is not a failure: see [`Wait`](crate::Wait).
    pub fn paused(&self) -> Option<&Paused> {
        match &self.0.failure {
            Failure::Paused(paused) => Some(paused),
            _ => None,
        }
    }

    /// Converts the error into the pause if the run paused. Use `?` to pass on every other error.
    ///
    /// # Errors
    ///
    /// Returns the error unchanged if the run stopped for a different reason.
    pub fn into_paused(self) -> Result<Paused, Self> {
        match self.0.failure {
            Failure::Paused(paused) => Ok(*paused),
            failure => Err(Self(Box::new(Inner { failure, ..*self.0 }))),
        }
    }

    /// Returns whether the journal failed, or contains an outcome that the node cannot read. The
    /// run can continue with a working journal.
    pub fn is_journal(&self) -> bool {
        matches!(self.0.failure, Failure::Journal(_))
    }

    /// Returns whether the run was resumed with a state other than the one with which it began; see
    /// [`Run::with_journal`](crate::Run::with_journal). Nothing was recorded.
    pub fn is_another_state(&self) -> bool {
        matches!(self.0.failure, Failure::AnotherState(_))
    }

    /// Returns the index of the item of a [`Batch`](crate::Batch) that failed, starting at 0.
    pub fn item(&self) -> Option<usize> {
        self.failed()?.item
    }

    /// Returns the error of the node or journal if it is an `E`.
    pub fn downcast_ref<E: Error + 'static>(&self) -> Option<&E> {
        self.cause()?.downcast_ref()
    }

    /// Returns the error of the node or journal.
    pub fn into_source(self) -> Option<BoxError> {
        match self.0.failure {
            Failure::Node(failed) => Some(failed.error.error),
            Failure::Journal(error) | Failure::AnotherState(error) => Some(error),
            _ => None,
        }
    }

    fn failed(&self) -> Option<&Failed> {
        match &self.0.failure {
            Failure::Node(failed) => Some(failed),
            _ => None,
        }
    }

    fn cause(&self) -> Option<&(dyn Error + Send + Sync + 'static)> {
        match &self.0.failure {
            Failure::Node(failed) => Some(failed.error.error.as_ref()),
            Failure::Journal(error) | Failure::AnotherState(error) => Some(error.as_ref()),
            _ => None,
        }
    }
}

impl fmt::Display for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.location.fmt(f)?;
        if let Some(item) = self.item() {
            write!(f, ", item {item}")?;
        }

        f.write_str(": ")?;
        self.0.failure.fmt(f)
    }
}

cogwork_text::debug_as_display!(RunError);

impl Error for RunError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

/// The names of a node and of the flows around it. After the end of a run, the node has no name.
#[derive(Debug)]
pub(crate) struct Location {
    pub(crate) flow_path: Vec<String>,
    pub(crate) node: String,
}

impl Location {
    /// Makes this the location as seen from the flow around `place`. The name of the place is more
    /// specific than the name of the flow in it, and replaces it.
    pub(crate) fn put_inside(&mut self, place: Self) {
        let below = self.flow_path.drain(..).skip(1);
        let mut flow_path = place.flow_path;
        flow_path.push(place.node);
        flow_path.extend(below);

        self.flow_path = flow_path;
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, flow) in self.flow_path.iter().enumerate() {
            let before = if index == 0 { "flow `" } else { "/" };
            write!(f, "{before}{}", Name(flow))?;
        }

        f.write_str("`")?;
        if self.node.is_empty() {
            // The run has ended.
            return Ok(());
        }
        write!(f, ", node `{}`", Name(&self.node))
    }
}
