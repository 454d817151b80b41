//! Flows of every kind over a list of numbers.

use std::time::Duration;

use cogwork_flow::engine::{recorded, wait_for};
use cogwork_flow::{
    Action, Backoff, Batch, BoxError, Branches, BuildError, Each, Flow, Node, Wait, from_exec,
    from_fn, from_phases,
};
use futures_util::future::try_join_all;

use super::State;
use super::world::World;

pub(super) type Built = Result<Flow<State>, BuildError>;

/// Long enough to be noticed, and short enough to be waited for.
pub(super) const SHORT: Duration = Duration::from_millis(60);

/// Longer than any test.
pub(super) const HOUR: Duration = Duration::from_secs(3600);

/// The event that the suite answers.
pub(super) const EVENT: &str = "question";

/// An event without an answer.
const SILENCE: &str = "silence";

const UNLUCKY: &str = "13 is unlucky";

/// A kind of flow, and what its runs come to.
pub(super) struct Kind {
    pub(super) name: &'static str,
    pub(super) define: fn(&World) -> Built,
    pub(super) input: &'static [u64],
    /// The maximum number of calls in progress.
    pub(super) at_once: usize,
    /// The final state, or a part of the error.
    pub(super) ends: Result<&'static [u64], &'static str>,
}

/// A loop with five calls.
pub(super) const LOOP: Kind = Kind {
    name: "a loop",
    define: a_loop,
    input: &[3, 60],
    at_once: 1,
    ends: Ok(&[96, 60]),
};

/// Branches in items, a batch, and a batch without items, after a loop in a subflow of a subflow.
pub(super) const NESTED: Kind = Kind {
    name: "parts in parts",
    define: nested,
    input: &[3, 20],
    at_once: 4,
    ends: Ok(&[768, 388, 160, 168]),
};

/// A composite step with a wait among its calls, and a batch of composite items.
pub(super) const COMPOSITE: Kind = Kind {
    name: "calls inside steps",
    define: composite,
    input: &[3, 60],
    at_once: 6,
    ends: Ok(&[1196, 972]),
};

/// The same without the wait.
pub(super) const CALLS: Kind = Kind {
    name: "calls without a wait",
    define: calls,
    input: &[3],
    at_once: 3,
    ends: Ok(&[972]),
};

/// A sleep, a wait in a loop, items that wait, and waits with limits.
pub(super) const WAITING: Kind = Kind {
    name: "sleeps and waits",
    define: waiting,
    input: &[3, 1],
    at_once: 4,
    ends: Ok(&[880, 9, 21, 21, 7, 1000]),
};

/// A run that fails in a step.
pub(super) const FAILING: Kind = failing(&[13, 3]);

/// Every kind of flow. Runs also fail in an item and in `post`.
pub(super) const KINDS: &[Kind] = &[
    LOOP,
    NESTED,
    COMPOSITE,
    WAITING,
    FAILING,
    failing(&[3, 60, 13]),
    failing(&[24, 3]),
];

const fn failing(input: &'static [u64]) -> Kind {
    Kind {
        name: "failures",
        define: unlucky,
        input,
        at_once: 2,
        ends: Err(UNLUCKY),
    }
}

/// The outcome of a call: the name of the step, and a number.
type Made = (String, u64);

/// What a call does with a number.
type Does = fn(u64) -> Result<u64, String>;

fn double(n: u64) -> Result<u64, String> {
    Ok(2 * n)
}

fn unless_13(n: u64) -> Result<u64, String> {
    match n {
        13 => Err(UNLUCKY.to_owned()),
        n => Ok(2 * n),
    }
}

async fn made(world: World, n: u64, does: Does) -> Result<Made, String> {
    let step = world.call().await;
    Ok((step, does(n)?))
}

/// A node of a batch that makes one call.
fn of_number(
    world: &World,
    does: Does,
) -> impl Node<u64, Prep = u64, Exec = Made, Error = BoxError> + use<> {
    let world = world.clone();
    from_exec(move |n: u64| made(world.clone(), n, does))
}

/// A node that makes one call, over the first of the numbers.
fn of_first(
    world: &World,
    does: Does,
) -> impl Node<State, Prep = u64, Exec = Made, Error = BoxError> + use<> {
    followed(world, does, &["default"], |_| Action::DEFAULT)
}

fn followed(
    world: &World,
    does: Does,
    actions: &[&'static str],
    next: fn(&State) -> Action,
) -> impl Node<State, Prep = u64, Exec = Made, Error = BoxError> + use<> {
    let calling = world.clone();
    let using = world.clone();

    from_phases(
        |all: &mut State| first(all),
        move |n: u64| made(calling.clone(), n, does),
        move |all: &mut State, (step, value): Made| {
            // From here on, the outcome has to be on record.
            using.uses(&step);
            set_first(all, value);
            next(all)
        },
    )
    .with_actions(actions.iter().copied().map(Action::from_static))
}

/// A batch of calls, two at a time.
fn batch_of<N: Node<u64, Exec = Made> + 'static>(world: &World, node: N) -> Batch<State, u64, N> {
    let using = world.clone();
    let join = move |all: &mut State, outcomes: Vec<Made>| {
        let values = outcomes.into_iter().map(|(step, value)| {
            using.uses(&step);
            value
        });
        *all = values.collect();
    };
    Batch::at_most(2, node, State::clone, join)
}

fn first(all: &State) -> u64 {
    all.first().copied().unwrap_or_default()
}

fn set_first(all: &mut State, value: u64) {
    if let Some(first) = all.first_mut() {
        *first = value;
    }
}

fn again_below_50(all: &State) -> Action {
    if first(all) < 50 {
        Action::from_static("again")
    } else {
        Action::DEFAULT
    }
}

/// A node that calls itself until the number is large.
fn a_loop(world: &World) -> Built {
    loop_of(world, "double")
}

/// The same whose node has a different name.
pub(super) fn changed_loop(world: &World) -> Built {
    loop_of(world, "twice")
}

fn loop_of(world: &World, node: &str) -> Built {
    let double = followed(world, double, &["again", "default"], again_below_50);
    Flow::builder("loop")
        .start(node)
        .node(node, double)
        .edge(node, "again", node)
        .end(node, Action::DEFAULT)
        .build()
}

fn nested(world: &World) -> Built {
    let inner = Flow::builder("inner")
        .subflow("loop", a_loop(world)?, |all: &mut State| all)
        .chain(["loop"])
        .build()?;
    // Other numbers than on the left, so that branches that are mixed up are noticed.
    let right = |all: &State| all.iter().map(|n| n + 1).collect::<State>();
    let branches = Branches::new()
        .branch("left", a_loop(world)?, State::clone, |all, left| {
            *all = left
        })
        .branch("right", a_loop(world)?, right, |all, right: State| {
            all.extend(right)
        });
    let item = Flow::builder("item")
        .branches("both", branches)
        .chain(["both"])
        .build()?;
    // Without items, no call is made, and `join` gets an empty list.
    let none = Batch::at_most(
        2,
        of_number(world, double),
        |_: &State| Vec::<u64>::new(),
        |all, outcomes| all.extend(outcomes.into_iter().map(|(_, value)| value)),
    );

    Flow::builder("nested")
        .subflow("inner", inner, |all: &mut State| all)
        .each("items", each_of(item))
        .batch("none", none)
        .batch("batch", batch_of(world, of_number(world, double)))
        .node("after", of_first(world, double))
        .chain(["inner", "items", "none", "batch", "after"])
        .build()
}

/// A flow for each number.
fn each_of(item: Flow<State>) -> Each<State, State> {
    Each::at_most(2, item, one_by_one, |all, items: Vec<State>| {
        *all = items.concat()
    })
}

fn one_by_one(all: &State) -> Vec<State> {
    all.iter().map(|n| vec![*n]).collect()
}

fn unlucky(world: &World) -> Built {
    let three = Backoff::of::<3>().with_first(Duration::from_millis(5));
    let check = from_fn(|all: &mut State| match first(all) {
        96 => Err(UNLUCKY.into()),
        _ => Ok(()),
    });
    Flow::builder("unlucky")
        .node("work", of_first(world, unless_13).retry(three))
        .batch("items", batch_of(world, of_number(world, unless_13)))
        .node("check", check)
        .node("after", of_first(world, double))
        .chain(["work", "items", "check", "after"])
        .build()
}

/// A node that makes several calls, some of them at once, which are recorded one by one.
struct Several {
    world: World,
    waits: bool,
}

impl Several {
    async fn double(&self, label: &str, n: u64) -> Result<u64, BoxError> {
        let outcome = recorded(label, || async {
            let step = self.world.call().await;
            Ok::<_, BoxError>((step, 2 * n))
        });
        let (step, n) = outcome.await?;

        // `exec` has the outcome now, so it has to be on record.
        self.world.uses(&step);
        Ok(n)
    }
}

impl Node<State> for Several {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, all: &mut State) -> Result<u64, BoxError> {
        Ok(first(all))
    }

    async fn exec(&self, n: &u64) -> Result<u64, BoxError> {
        let first = self.double("first", *n).await?;
        // One label for all, so that only their numbers keep the calls apart.
        let many = (0..3).map(|more| self.double("many", n + more));
        let many = try_join_all(many).await?;
        let mut sum = first + many.iter().sum::<u64>();

        if self.waits {
            let answer = wait_for::<u64>(EVENT, "a number to add", None, None).await?;
            sum += answer.unwrap_or_default();
        }
        self.double("last", sum).await
    }

    fn post(&self, all: &mut State, _: u64, n: u64) -> Result<Action, BoxError> {
        set_first(all, n);
        Ok(Action::DEFAULT)
    }
}

/// A step that waits among its calls, and a batch.
fn composite(world: &World) -> Built {
    several(world, true)
}

fn calls(world: &World) -> Built {
    several(world, false)
}

fn several(world: &World, waits: bool) -> Built {
    let world = world.clone();
    let node = move |waits| Several {
        world: world.clone(),
        waits,
    };
    let items = Batch::at_most(2, node(false), one_by_one, |all, done| *all = done);
    Flow::builder("composite")
        .node("step", node(waits))
        .batch("items", items)
        .chain(["step", "items"])
        .build()
}

/// A call, a wait for this event, and a call.
pub(super) fn asks(world: &World, event: &str) -> Built {
    let ask = Wait::for_event(event, |all: &mut State, answer: u64| all.push(answer))
        .with_reason(|all| format!("a number after {}", first(all)));
    Flow::builder("asks")
        .node("before", of_first(world, double))
        .wait("ask", ask)
        .node("after", of_first(world, double))
        .chain(["before", "ask", "after"])
        .build()
}

/// A call, a wait that times out after an hour, and a call.
pub(super) fn asks_for_an_hour(world: &World) -> Built {
    limited(world, EVENT, HOUR)
}

fn limited(world: &World, event: &str, limit: Duration) -> Built {
    let ask = Wait::for_event(event, |all: &mut State, answer: u64| all.push(answer));
    Flow::builder("limited")
        .node("before", of_first(world, double))
        .wait("ask", ask.with_timeout(limit))
        .node("late", from_fn(|all: &mut State| all.push(1000)))
        .node("after", of_first(world, double))
        .chain(["before", "ask", "after"])
        .edge("ask", Action::TIMED_OUT, "late")
        .edge("late", Action::DEFAULT, "after")
        .build()
}

/// A call, a sleep, and a call.
pub(super) fn sleeps(world: &World) -> Built {
    Flow::builder("sleeps")
        .node("before", of_first(world, double))
        .sleep("sleep", |_: &State| SHORT)
        .node("after", of_first(world, double))
        .chain(["before", "sleep", "after"])
        .build()
}

/// Appends answers until there are four numbers.
pub(super) fn sums(world: &World) -> Built {
    let ask = Wait::for_event(EVENT, |all: &mut State, answer: u64| {
        all.push(answer);
        if all.len() < 4 {
            Action::from_static("again")
        } else {
            Action::DEFAULT
        }
    });
    Flow::builder("sums")
        .start("work")
        .node("work", of_first(world, double))
        .wait("ask", ask.with_actions(["again", "default"]))
        .edge("work", Action::DEFAULT, "ask")
        .edge("ask", "again", "ask")
        .end("ask", Action::DEFAULT)
        .build()
}

fn waiting(world: &World) -> Built {
    let ask = Wait::for_event(EVENT, |all: &mut State, answer: u64| {
        let sum = first(all) + answer;
        set_first(all, sum);
    });
    let item = Flow::builder("item")
        .node("work", of_first(world, double))
        .wait("ask", ask)
        .chain(["work", "ask"])
        .build()?;

    Flow::builder("waiting")
        .subflow("sleeps", sleeps(world)?, |all: &mut State| all)
        .subflow("sums", sums(world)?, |all: &mut State| all)
        .each("items", each_of(item))
        .subflow(
            "in time",
            limited(world, EVENT, HOUR)?,
            |all: &mut State| all,
        )
        .subflow(
            "late",
            limited(world, SILENCE, SHORT)?,
            |all: &mut State| all,
        )
        .chain(["sleeps", "sums", "items", "in time", "late"])
        .build()
}
