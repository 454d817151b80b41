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

/// A state with a number to work on.
trait Numbered: Send {
    fn number(&self) -> u64;
    fn set_number(&mut self, n: u64);
}

impl Numbered for u64 {
    fn number(&self) -> u64 {
        *self
    }

    fn set_number(&mut self, n: u64) {
        *self = n;
    }
}

impl Numbered for State {
    fn number(&self) -> u64 {
        nodes::first(self)
    }

    fn set_number(&mut self, n: u64) {
        nodes::set_first(self, n);
    }
}

impl<S: Numbered> Node<S> for Several {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, state: &mut S) -> Result<u64, BoxError> {
        Ok(state.number())
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        self.work(*n).await
    }

    fn post(&self, state: &mut S, _: u64, n: u64) -> Result<Action, BoxError> {
        state.set_number(n);
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
        .node("work", several(world, waits))
        .chain(["work"])
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
        .batch("work", batch)
        .chain(["work"])
        .build()
}
