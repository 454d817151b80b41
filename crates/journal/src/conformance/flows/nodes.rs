//! Single nodes, loops and batches.

use std::time::Duration;

use cogwork_flow::{Action, Batch, Flow, Node, from_exec, from_fn, from_phases};

use super::common::{Built, UNLUCKY};
use crate::conformance::State;
use crate::conformance::world::World;

/// The outcome of a call: the name of the step, and a number.
type Made = (String, u64);

/// What a node does with a number: the state, and how often the call had been made before.
pub(super) type Does = fn(u64, usize) -> Result<Result<u64, Duration>, String>;

pub(super) fn double(n: u64, _: usize) -> Result<Result<u64, Duration>, String> {
    Ok(Ok(2 * n))
}

pub(super) fn unless_13(n: u64, _: usize) -> Result<Result<u64, Duration>, String> {
    if n == 13 {
        Err(UNLUCKY.to_owned())
    } else {
        Ok(Ok(2 * n))
    }
}

async fn made(world: World, n: u64, does: Does) -> Result<Made, String> {
    let call = world.call().await;
    let n = match does(n, call.before)? {
        Ok(n) => n,
        Err(time) => {
            tokio::time::sleep(time).await;
            n
        }
    };

    Ok((call.step, n))
}

/// A node of a batch that makes one call.
pub(super) fn of_number(
    world: &World,
    does: Does,
) -> impl Node<u64, Prep = u64, Exec = Made, Error = String> + use<> {
    let world = world.clone();
    from_exec(move |n: u64| made(world.clone(), n, does))
}

/// A node that makes one call, over the first of the numbers.
pub(super) fn of_first(
    world: &World,
    does: Does,
) -> impl Node<State, Prep = u64, Exec = Made, Error = String> + use<> {
    let calling = world.clone();
    let using = world.clone();

    from_phases(
        |all: &mut State| first(all),
        move |n: u64| made(calling.clone(), n, does),
        move |all: &mut State, _, (step, value): Made| {
            using.uses(&step);
            set_first(all, value);
        },
    )
}

pub(super) fn first(all: &State) -> u64 {
    all.first().copied().unwrap_or_default()
}

pub(super) fn set_first(all: &mut State, value: u64) {
    if let Some(first) = all.first_mut() {
        *first = value;
    }
}

/// A node and a call after it, so that a crash can follow the node.
pub(super) fn single(world: &World, node: impl Node<State> + 'static) -> Built {
    Flow::builder("single")
        .node("work", node)
        .node("after", of_first(world, double))
        .chain(["work", "after"])
        .build()
}

/// A batch, two items at a time, and a call after it.
pub(super) fn batch(world: &World, node: impl Node<u64, Exec = Made> + 'static) -> Built {
    let using = world.clone();
    let join = move |all: &mut State, outcomes: Vec<Made>| {
        let values = outcomes.into_iter().map(|(step, value)| {
            using.uses(&step);
            value
        });
        *all = values.collect();
    };

    let batch = Batch::at_most(2, node, State::clone, join);
    Flow::builder("batch")
        .batch("work", batch)
        .node("after", of_first(world, double))
        .chain(["work", "after"])
        .build()
}

fn again_below_50(all: &mut State) -> Action {
    if first(all) < 50 {
        Action::from_static("again")
    } else {
        Action::DEFAULT
    }
}

/// A node that calls itself until the number is large.
pub(super) fn a_loop(world: &World) -> Built {
    let calling = world.clone();
    let using = world.clone();
    let node = from_phases(
        |all: &mut State| first(all),
        move |n: u64| made(calling.clone(), n, double),
        move |all: &mut State, _, (step, value): Made| {
            using.uses(&step);
            set_first(all, value);
            again_below_50(all)
        },
    );

    Flow::builder("loop")
        .start("double")
        .node("double", node.with_actions(["again", "default"]))
        .edge("double", "again", "double")
        .end("double", Action::DEFAULT)
        .build()
}

fn looping(world: &World, name: &str, check: &'static str) -> Built {
    let again = from_fn(again_below_50).with_actions(["again", "default"]);
    Flow::builder(name)
        .start("double")
        .node("double", of_first(world, double))
        .node(check, again)
        .edge("double", Action::DEFAULT, check)
        .edge(check, "again", "double")
        .end(check, Action::DEFAULT)
        .build()
}

/// A loop of two nodes.
pub(super) fn a_checked_loop(world: &World) -> Built {
    looping(world, "loop", "check")
}

/// A loop whose second node has a different name.
pub(crate) fn changed_loop(world: &World) -> Built {
    looping(world, "loop", "examine")
}

/// A loop in a flow with a different name.
pub(crate) fn renamed_loop(world: &World) -> Built {
    looping(world, "another flow", "check")
}

/// A loop after which one more node follows.
pub(crate) fn longer_than_a_loop(world: &World) -> Built {
    let again = from_fn(again_below_50).with_actions(["again", "default"]);
    Flow::builder("loop")
        .start("double")
        .node("double", of_first(world, double))
        .node("check", again)
        .node("once more", of_first(world, double))
        .edge("double", Action::DEFAULT, "check")
        .edge("check", "again", "double")
        .edge("check", Action::DEFAULT, "once more")
        .end("once more", Action::DEFAULT)
        .build()
}

pub(super) fn a_step(world: &World) -> Built {
    single(world, of_first(world, unless_13))
}

pub(super) fn a_batch(world: &World) -> Built {
    batch(world, of_number(world, unless_13))
}

pub(super) fn an_empty_batch(world: &World) -> Built {
    let none = Batch::at_most(
        2,
        of_number(world, double),
        |_: &State| Vec::<u64>::new(),
        |all, outcomes| all.extend(outcomes.into_iter().map(|(_, value)| value)),
    );
    Flow::builder("empty")
        .batch("none", none)
        .node("work", of_first(world, double))
        .node("after", of_first(world, double))
        .chain(["none", "work", "after"])
        .build()
}

pub(super) fn a_post_that_fails(world: &World) -> Built {
    let check = from_fn(|all: &mut State| {
        if first(all) == 26 {
            Err("26 is twice 13".into())
        } else {
            Ok(())
        }
    });
    Flow::builder("post")
        .node("work", of_first(world, double))
        .node("check", check)
        .chain(["work", "check"])
        .build()
}
