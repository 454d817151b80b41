//! Where a node loses its types: one boxed future a visit, whatever the node.

use std::future::Future;
use std::num::NonZeroU32;
use std::pin::Pin;

use crate::call::Call;
use crate::context::Here;
use crate::journal::{StepError, StepProblem, Work, WorkError};
use crate::step::NamedStep;
use crate::wrap::Attempts;
use crate::{Action, BoxError, Flow, Node, Paused, Phase, RunError};

pub(crate) type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A visit that goes on. The failure is boxed so that the outcome of a visit is three words.
pub(crate) type Visited<'a> = BoxFuture<'a, Result<Action, Box<Failure>>>;

/// What stands under a name of a flow: a node, or a flow over a part of the state.
///
/// A flow hands the visit down to its own node before anything is polled, so a node at any depth
/// of subflows is one future, polled directly: depth costs no stack.
pub(crate) trait Visit<S>: Send + Sync {
    /// Visits the node at `position`, given as indices into this flow and the flows inside it.
    fn visit<'a>(&'a self, state: &'a mut S, position: &'a [usize], here: Here<'a>) -> Visited<'a>;

    /// Does the work on one item of the batch that stands at `place`, given as names in the flows
    /// inside this one: all attempts, or the one of this number. `None` where there is no batch.
    fn exec_item<'a>(
        &'a self,
        _place: &[String],
        _item: &'a [u8],
        _number: Option<NonZeroU32>,
    ) -> Option<ExecItem<'a>> {
        None
    }
}

pub(crate) type ExecItem<'a> = BoxFuture<'a, Result<Vec<u8>, WorkError>>;

/// A failed visit, before the run adds the place.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The node itself failed.
    Node(Box<Failed>),
    /// A flow inside the visit stopped; the label tells it from the others beside it.
    Inside(Box<(String, RunError)>),
    /// The visit waits for an event.
    Paused(Box<Paused>),
    /// The journal failed.
    Journal(BoxError),
    /// What is visited needs a journal, and there is none.
    NoJournal(&'static str),
    /// The node panicked.
    Panicked(String),
}

/// How a node failed.
#[derive(Debug)]
pub(crate) struct Failed {
    pub(crate) phase: Phase,
    pub(crate) attempts: u32,
    /// The item of a batch.
    pub(crate) item: Option<usize>,
    pub(crate) source: BoxError,
}

impl Failure {
    pub(crate) fn node(phase: Phase, error: impl Into<BoxError>) -> Self {
        Failed::new(phase, error).into()
    }

    /// The same failure, of one item of a batch.
    pub(crate) fn of_item(mut self, index: usize) -> Self {
        if let Self::Node(failed) = &mut self {
            failed.item = Some(index);
        }
        self
    }

    pub(crate) fn paused_mut(&mut self) -> Option<&mut Paused> {
        match self {
            Self::Paused(paused) => Some(paused),
            Self::Inside(inside) => inside.1.paused_mut(),
            Self::Node(_) | Self::Journal(_) | Self::NoJournal(_) | Self::Panicked(_) => None,
        }
    }

    pub(crate) fn into_paused(self) -> Option<Paused> {
        match self {
            Self::Paused(paused) => Some(*paused),
            Self::Inside(inside) => inside.1.into_paused().ok(),
            Self::Node(_) | Self::Journal(_) | Self::NoJournal(_) | Self::Panicked(_) => None,
        }
    }
}

impl From<Failed> for Failure {
    fn from(failed: Failed) -> Self {
        Self::Node(Box::new(failed))
    }
}

impl From<StepError> for Failure {
    fn from(error: StepError) -> Self {
        match error.0 {
            StepProblem::Work(failed) => failed.into(),
            StepProblem::Journal(error) => Self::Journal(error),
        }
    }
}

impl Failed {
    pub(crate) fn new(phase: Phase, error: impl Into<BoxError>) -> Self {
        let (mut source, mut attempts) = (error.into(), None);
        // Retries around retries each add a layer. The outermost count is the one kept: inner
        // counts may differ between the outer attempts, and only the last would be known.
        loop {
            match source.downcast::<Attempts>() {
                Ok(counted) => {
                    attempts.get_or_insert(counted.attempts);
                    source = counted.source;
                }
                Err(source) => return Self { phase, attempts: attempts.unwrap_or(1), item: None, source },
            }
        }
    }
}

pub(crate) struct Leaf<N>(pub(crate) N);

impl<S: Send, N: Node<S>> Visit<S> for Leaf<N> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        let node = &self.0;
        // Two futures, so that a visit nobody watches or records is as small as it can be.
        match here.step {
            None => Box::pin(async move {
                let prep = node.prep(state).map_err(|error| Failure::node(Phase::Prep, error))?;
                let exec = node.exec(&prep).await.map_err(|error| Failure::node(Phase::Exec, error))?;
                Ok(node.post(state, prep, exec).map_err(|error| Failure::node(Phase::Post, error))?)
            }),
            Some(step) => Box::pin(visit_named(node, state, step)),
        }
    }
}

async fn visit_named<S, N: Node<S>>(
    node: &N,
    state: &mut S,
    step: &NamedStep<'_>,
) -> Result<Action, Box<Failure>> {
    let prep = step.phase(Phase::Prep, || node.prep(state));
    let prep = prep.map_err(|error| Failure::node(Phase::Prep, error))?;
    let exec = match &step.journal {
        None => step.exec(node.exec(&prep)).await.map_err(|error| Failure::node(Phase::Exec, error))?,
        Some(journal) => {
            let call = Call::new(node, &prep, step, journal.max_outcome);
            let bytes = journal.step(&step.name, Work::new(&call)).await.map_err(Failure::from)?;
            call.outcome(&bytes).await?
        }
    };
    let post = step.phase(Phase::Post, || node.post(state, prep, exec));
    post.map_err(|error| Failure::node(Phase::Post, error).into())
}

pub(crate) struct Subflow<T, F> {
    pub(crate) flow: Flow<T>,
    pub(crate) part: F,
}

impl<S, T, F: Fn(&mut S) -> &mut T + Send + Sync> Visit<S> for Subflow<T, F> {
    fn visit<'a>(&'a self, state: &'a mut S, position: &'a [usize], here: Here<'a>) -> Visited<'a> {
        self.flow.visit((self.part)(state), position, here)
    }

    fn exec_item<'a>(
        &'a self,
        place: &[String],
        item: &'a [u8],
        number: Option<NonZeroU32>,
    ) -> Option<ExecItem<'a>> {
        self.flow.exec_item_at(place, item, number)
    }
}
