//! The visit of a node: its three phases.

use std::pin::pin;

use super::call::Call;
use super::composite;
use super::failure::Failure;
use super::here::Here;
use super::named_step::NamedStep;
use super::visit::{Visit, Visited};
use crate::journal::Work;
use crate::{Action, Node, Operation, Phase};

pub(crate) struct NodeVisit<N>(pub(crate) N);

impl<S: Send, N: Node<S>> Visit<S> for NodeVisit<N> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
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

    fn operation(&self, _: &[usize]) -> Operation {
        self.0.operation()
    }
}

async fn visit_named<S, N: Node<S>>(
    node: &N,
    state: &mut S,
    step: &NamedStep<'_>,
) -> Result<Action, Box<Failure>> {
    let prep = step.phase(Phase::Prep, || node.prep(state));
    let prep = prep.map_err(|error| Failure::node(Phase::Prep, error))?;

    let exec = exec(node, &prep, step).await?;

    let post = step.phase(Phase::Post, || node.post(state, prep, exec));
    post.map_err(|error| Failure::node(Phase::Post, error).into())
}

/// Runs the `exec` of a named step, or returns its recorded outcome.
pub(crate) async fn exec<S, N: Node<S>>(
    node: &N,
    prep: &N::Prep,
    step: &NamedStep<'_>,
) -> Result<N::Exec, Failure> {
    let Some(journal) = step.journal() else {
        let exec = pin!(node.exec(prep));
        let exec = step.exec(exec).await;
        return exec.map_err(|error| Failure::node(Phase::Exec, error));
    };

    if node.is_composite() {
        // Boxed, so that no other node is larger because of composite ones.
        return Box::pin(composite::exec(node, prep, step, journal)).await;
    }

    let call = Call::new(node, prep, step, journal.max_outcome);
    if let Some(outcome) = journal.loaded(&step.name) {
        return call.replayed(&outcome);
    }

    let recorded = journal.step(&step.name, Work::new(&call)).await;
    call.outcome(&recorded.map_err(Failure::from)?)
}
