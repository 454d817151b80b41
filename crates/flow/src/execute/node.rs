//! The visit of a node: its three phases.

use std::pin::pin;
use std::sync::{Mutex, PoisonError};

use super::context::Here;
use super::cursor::At;
use super::failure::Failure;
use super::named_step::NamedStep;
use super::recorder::{Exec, call, exec_composite};
use super::visit::{Visit, Visited};
use crate::engine::{Operation, WorkError, encode, recordable};
use crate::nodes::Phase;
use crate::{Action, Node};

pub(crate) struct NodeVisit<N>(pub(crate) N);

impl<S: Send, N: Node<S>> Visit<S> for NodeVisit<N> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [At<'a>], here: Here<'a>) -> Visited<'a> {
        let node = &self.0;

        // Two futures, so that a visit without a named step is as small as possible.
        match here.step {
            Some(step) => Box::pin(visit_named(node, state, step)),
            None => Box::pin(async move {
                let prep = node
                    .prep(state)
                    .map_err(|error| Failure::node(Phase::Prep, error))?;
                let exec = node.exec(&prep).await;
                let exec = exec.map_err(|error| Failure::node(Phase::Exec, error))?;
                let post = node.post(state, prep, exec);

                Ok(post.map_err(|error| Failure::node(Phase::Post, error))?)
            }),
        }
    }

    fn operation(&self, _: &[At<'_>]) -> Operation {
        self.0.operation()
    }
}

async fn visit_named<S, N: Node<S>>(
    node: &N,
    state: &mut S,
    step: &NamedStep,
) -> Result<Action, Box<Failure>> {
    let prep = step.phase(Phase::Prep, || node.prep(state));
    let prep = prep.map_err(|error| Failure::node(Phase::Prep, error))?;

    let exec = exec(node, &prep, Some(step)).await?;

    let post = step.phase(Phase::Post, || node.post(state, prep, exec));
    post.map_err(|error| Failure::node(Phase::Post, error).into())
}

/// Runs `exec`, or returns its recorded outcome.
pub(crate) async fn exec<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    step: Option<&NamedStep>,
) -> Result<N::Exec, Failure> {
    let failed = |error| Failure::node(Phase::Exec, error);
    let Some(step) = step else {
        return node.exec(prep).await.map_err(failed);
    };
    let Some(journal) = step.journal() else {
        let exec = pin!(node.exec(prep));
        let exec = step.exec(None, exec).await.map_err(failed)?;
        // Only people who watch want the outcome as JSON: nothing else is serialised without a
        // journal.
        if step.is_watched(false)
            && !node.is_composite()
            && let Ok(json) = encode(&exec, step.attached.max_outcome())
        {
            step.returned(&json);
        }
        return Ok(exec);
    };

    // The rest only sees the outcome as JSON. One that was made just now is read back from that.
    let made = Mutex::new(None);
    let attempt = || -> Exec<'_> {
        Box::pin(async {
            let exec = node.exec(prep).await;
            let exec = exec.map_err(WorkError::new)?;
            // Before it reaches the journal, so that one that cannot be read back fails the step
            // and isn't recorded.
            let recordable = recordable(&exec, step.attached.max_outcome());
            let (json, exec) = recordable.map_err(WorkError::new)?;

            *made.lock().unwrap_or_else(PoisonError::into_inner) = Some(exec);
            Ok(json)
        })
    };

    let outcome = if node.is_composite() {
        exec_composite(step, journal, &attempt).await?
    } else {
        call(&**journal, &step.name, step.exec(None, attempt())).await?
    };

    // After the journal has it, so that whoever reads the event finds the outcome there.
    if outcome.was_made && !node.is_composite() {
        step.returned(&outcome.json);
    }

    // It was read back when it was made, and needn't be read a second time.
    let made = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    if let (true, Some(exec)) = (outcome.was_made, made) {
        return Ok(exec);
    }

    step.replayed();
    // The type of the outcome may have changed since it was recorded.
    let exec = outcome.json.read();
    exec.map_err(|problem| Failure::Journal(problem.into()))
}
