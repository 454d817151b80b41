//! Flows inside other flows.

use cogwork_flow::{Branches, Each, Flow};

use super::common::Built;
use super::nodes;
use crate::conformance::State;
use crate::conformance::world::World;

type Inner = fn(&World) -> Built;

fn subflow_of(world: &World, inner: Inner) -> Built {
    Flow::builder("outer")
        .subflow("in", inner(world)?, |all: &mut State| all)
        .chain(["in"])
        .build()
}

fn items_of(world: &World, inner: Inner) -> Built {
    let each = Each::at_most(
        2,
        inner(world)?,
        |all: &State| all.iter().map(|n| vec![*n]).collect::<Vec<_>>(),
        |all, items: Vec<State>| *all = items.concat(),
    );
    Flow::builder("items")
        .each("in", each)
        .chain(["in"])
        .build()
}

fn branches_of(world: &World, inner: Inner) -> Built {
    let branches = Branches::new()
        .branch("left", inner(world)?, State::clone, |all, left| *all = left)
        .branch(
            "right",
            inner(world)?,
            |all: &State| all.iter().map(|n| n + 1).collect::<State>(),
            |all, right: State| all.extend(right),
        );
    Flow::builder("branches")
        .branches("in", branches)
        .chain(["in"])
        .build()
}

pub(super) fn a_subflow(world: &World) -> Built {
    subflow_of(world, |world| subflow_of(world, nodes::a_loop))
}

pub(super) fn items(world: &World) -> Built {
    items_of(world, nodes::a_loop)
}

pub(super) fn branches(world: &World) -> Built {
    branches_of(world, nodes::a_loop)
}

/// A loop in branches, in items, in a subflow.
pub(super) fn nested(world: &World) -> Built {
    subflow_of(world, |world| {
        items_of(world, |world| branches_of(world, nodes::a_loop))
    })
}
