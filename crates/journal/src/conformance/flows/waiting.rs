//! Sleeps, and waits for events.

use std::time::Duration;

use cogwork_flow::{Action, Each, Flow, Wait, from_fn};

use super::common::{Built, EVENT, HOUR, SHORT};
use super::nodes::{double, first, of_first, set_first};
use crate::conformance::State;
use crate::conformance::world::World;

/// An event without an answer.
const SILENCE: &str = "silence";

pub(super) fn a_sleep(world: &World) -> Built {
    Flow::builder("sleeps")
        .node("before", of_first(world, double))
        .sleep("sleep", |_: &State| SHORT)
        .node("after", of_first(world, double))
        .chain(["before", "sleep", "after"])
        .build()
}

/// A call, a wait for this event, and a call.
pub(crate) fn waits_once(world: &World, event: &str) -> Built {
    let ask = Wait::for_event(event, |all: &mut State, answer: u64| all.push(answer))
        .with_reason(|all| format!("a number after {}", first(all)));
    around(world, ask, false)
}

/// The same with a limit.
pub(crate) fn waits_with_limit(world: &World, event: &str, limit: Duration) -> Built {
    let ask = Wait::for_event(event, |all: &mut State, answer: u64| all.push(answer));
    around(world, ask.with_timeout(limit), true)
}

fn around(world: &World, ask: Wait<State>, is_limited: bool) -> Built {
    let builder = Flow::builder("asks")
        .node("before", of_first(world, double))
        .wait("ask", ask)
        .node("after", of_first(world, double))
        .chain(["before", "ask", "after"]);
    if !is_limited {
        return builder.build();
    }

    builder
        .node("late", from_fn(|all: &mut State| all.push(1000)))
        .edge("ask", Action::TIMED_OUT, "late")
        .edge("late", Action::DEFAULT, "after")
        .build()
}

pub(super) fn a_limit_not_reached(world: &World) -> Built {
    waits_with_limit(world, EVENT, HOUR)
}

pub(super) fn a_limit_reached(world: &World) -> Built {
    waits_with_limit(world, SILENCE, SHORT)
}

/// Appends answers until there are so many numbers.
pub(crate) fn sums(world: &World, until: usize) -> Built {
    let ask = Wait::for_event(EVENT, move |all: &mut State, answer: u64| {
        all.push(answer);
        if all.len() < until {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    Flow::builder("answers")
        .start("work")
        .node("work", of_first(world, double))
        .wait("ask", ask.with_actions(["again", "default"]))
        .edge("work", Action::DEFAULT, "ask")
        .edge("ask", "again", "ask")
        .end("ask", Action::DEFAULT)
        .build()
}

pub(super) fn waits_in_a_loop(world: &World) -> Built {
    sums(world, 5)
}

/// Items that each wait for the same event.
pub(super) fn waits_of_items(world: &World) -> Built {
    let ask = Wait::for_event(EVENT, |all: &mut State, answer: u64| {
        let sum = first(all) + answer;
        set_first(all, sum);
    });
    let item = Flow::builder("item")
        .node("work", of_first(world, double))
        .wait("ask", ask)
        .chain(["work", "ask"])
        .build()?;
    let each = Each::at_most(
        3,
        item,
        |all: &State| all.iter().map(|n| vec![*n]).collect::<Vec<_>>(),
        |all, items: Vec<State>| *all = items.concat(),
    );

    Flow::builder("waiting items")
        .each("in", each)
        .chain(["in"])
        .build()
}
