//! Nodes whose calls are recorded one by one.

use cogwork_flow::journal::{recorded, wait_for};
use cogwork_flow::{Action, Batch, BoxError, Flow, Node};
use futures_util::future::try_join_all;

use super::common::{Built, EVENT};
use super::nodes;
use crate::conformance::State;
use crate::conformance::world::World;

/// A node that makes several calls, some of them at once.
struct Several {
    world: World,
    waits: bool,
}

impl Several {
    async fn double(&self, label: &str, n: u64) -> Result<u64, BoxError> {
        let outcome = recorded(label, || async {
            let call = self.world.call().await;
            Ok::<_, BoxError>((call.step, 2 * n))
        });
        let (step, n) = outcome.await?;

        self.world.uses(&step);
        Ok(n)
    }

    async fn work(&self, n: u64) -> Result<u64, BoxError> {
        let first = self.double("first", n).await?;
        let many = (0..3).map(|more| self.double("many", n + more));
        let many = try_join_all(many).await?;
        let mut sum = first + many.iter().sum::<u64>();

        if self.waits {
            let answer = wait_for::<u64>(EVENT, "a number to add", None).await?;
            sum += answer.unwrap_or_default();
        }

        self.double("last", sum).await
    }
}

impl Node<u64> for Several {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, n: &mut u64) -> Result<u64, BoxError> {
        Ok(*n)
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        self.work(*n).await
    }

    fn post(&self, state: &mut u64, _: u64, n: u64) -> Result<Action, BoxError> {
        *state = n;
        Ok(Action::DEFAULT)
    }
}

/// The same, over the first of the numbers.
struct OfFirst(Several);

impl Node<State> for OfFirst {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, all: &mut State) -> Result<u64, BoxError> {
        Ok(nodes::first(all))
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        self.0.work(*n).await
    }

    fn post(&self, all: &mut State, _: u64, n: u64) -> Result<Action, BoxError> {
        nodes::set_first(all, n);
        Ok(Action::DEFAULT)
    }
}

fn several(world: &World, waits: bool) -> Several {
    Several {
        world: world.clone(),
        waits,
    }
}

fn single(world: &World, waits: bool) -> Built {
    Flow::builder("composite")
        .start("work")
        .node("work", OfFirst(several(world, waits)))
        .end("work", Action::DEFAULT)
        .build()
}

pub(super) fn a_step(world: &World) -> Built {
    single(world, false)
}

pub(super) fn a_step_that_waits(world: &World) -> Built {
    single(world, true)
}

pub(super) fn a_batch(world: &World) -> Built {
    let node = several(world, false);
    let batch = Batch::at_most(2, node, State::clone, |all, done| *all = done);
    Flow::builder("composites")
        .start("work")
        .batch("work", batch)
        .end("work", Action::DEFAULT)
        .build()
}
