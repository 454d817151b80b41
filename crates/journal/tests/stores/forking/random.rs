//! Random flows: what is on record isn't done again, and what isn't is.

use std::time::Duration;

use cogwork_flow::journal::recorded;
use cogwork_flow::{
    Action, Batch, BoxError, Branches, Each, Flow, FlowBuilder, Node, Wait, from_fn,
    idempotency_key,
};
use cogwork_journal::{Fork, RunJournal};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use crate::each::Tested;
use crate::work::{Calls, is_long};

/// Numbers that depend on all earlier outcomes.
type State = Vec<u64>;

/// A place of a random flow.
#[derive(Debug, Clone)]
enum Place {
    Call,
    Composite,
    Computed,
    Sleep,
    Wait,
    Batch(u64),
    Each(u64, Vec<Place>),
    Branches(Vec<Place>, Vec<Place>),
    Subflow(Vec<Place>),
}

fn places() -> impl Strategy<Value = Vec<Place>> {
    let simple = prop_oneof![
        3 => Just(Place::Call),
        2 => Just(Place::Composite),
        1 => Just(Place::Computed),
        1 => Just(Place::Sleep),
        2 => (0_u64..4).prop_map(Place::Batch),
    ];
    let inner = proptest::collection::vec(simple.clone(), 1..3);
    let place = prop_oneof![
        4 => simple,
        1 => Just(Place::Wait),
        1 => (0_u64..3, inner.clone()).prop_map(|(items, flow)| Place::Each(items, flow)),
        1 => (inner.clone(), inner.clone()).prop_map(|(one, two)| Place::Branches(one, two)),
        1 => inner.prop_map(Place::Subflow),
    ];

    proptest::collection::vec(place, 1..6)
}

async fn call(calls: &Calls, number: u64) -> u64 {
    let key = idempotency_key().unwrap_or_default();
    calls.lock().unwrap().push(key);
    tokio::task::yield_now().await;
    number.wrapping_mul(31).wrapping_add(7)
}

/// Makes a call, or two that are recorded one by one.
struct Asks {
    calls: Calls,
    is_composite: bool,
}

impl Node<State> for Asks {
    type Prep = u64;
    type Exec = u64;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        self.is_composite
    }

    fn prep(&self, state: &mut State) -> Result<u64, BoxError> {
        Ok(state.iter().fold(1, |sum, n| sum * 3 + n))
    }

    async fn exec(&self, number: &u64) -> Result<u64, BoxError> {
        if !self.is_composite {
            return Ok(call(&self.calls, *number).await);
        }

        let ask = |number| async move { Ok::<_, BoxError>(call(&self.calls, number).await) };
        let first = recorded("ask", || ask(*number)).await?;
        Ok(recorded("ask", || ask(first)).await?)
    }

    fn post(&self, state: &mut State, _: u64, number: u64) -> Result<Action, BoxError> {
        state.push(number % 1_000);
        Ok(Action::DEFAULT)
    }
}

fn asks(calls: &Calls, is_composite: bool) -> Asks {
    Asks {
        calls: calls.clone(),
        is_composite,
    }
}

fn add(
    builder: FlowBuilder<State>,
    name: &str,
    place: &Place,
    calls: &Calls,
) -> FlowBuilder<State> {
    match place {
        Place::Call => builder.node(name, asks(calls, false)),
        Place::Composite => builder.node(name, asks(calls, true)),
        Place::Computed => builder.node(name, from_fn(|state: &mut State| state.push(1))),
        Place::Sleep => builder.sleep(name, |_: &State| Duration::from_millis(1)),
        Place::Wait => {
            let wait = Wait::for_event("number", |state: &mut State, n: u64| state.push(n));
            builder.wait(name, wait)
        }
        Place::Batch(items) => {
            let items = *items;
            let calls = calls.clone();
            let ask = cogwork_flow::from_exec(move |number: u64| {
                let calls = calls.clone();
                async move { Ok::<_, std::io::Error>(call(&calls, number).await) }
            });
            let split = move |state: &State| {
                let sum = state.iter().sum::<u64>();
                (0..items).map(|item| sum + item).collect::<Vec<_>>()
            };
            let join =
                |state: &mut State, all: Vec<u64>| state.extend(all.iter().map(|n| n % 1_000));
            builder.batch(name, Batch::at_most(2, ask, split, join))
        }
        Place::Each(items, inner) => {
            let items = *items;
            let split = move |state: &State| vec![state.clone(); items as usize];
            let join = |state: &mut State, all: Vec<State>| {
                state.push(all.iter().flatten().sum::<u64>() % 1_000);
            };
            builder.each(
                name,
                Each::at_most(2, flow(name, inner, calls), split, join),
            )
        }
        Place::Branches(one, two) => {
            let join = |state: &mut State, branch: State| {
                state.push(branch.iter().sum::<u64>() % 1_000);
            };
            let branches = Branches::new()
                .branch("one", flow(name, one, calls), State::clone, join)
                .branch("two", flow(name, two, calls), State::clone, join);
            builder.branches(name, branches)
        }
        Place::Subflow(inner) => {
            builder.subflow(name, flow(name, inner, calls), |state: &mut State| state)
        }
    }
}

fn flow(name: &str, places: &[Place], calls: &Calls) -> Flow<State> {
    let names: Vec<_> = (0..places.len())
        .map(|index| format!("place {index}"))
        .collect();
    let mut builder = Flow::builder(name);
    for (name, place) in names.iter().zip(places) {
        builder = add(builder, name, place, calls);
    }
    builder.chain(names).build().unwrap()
}

/// Executes a run until it ends, and answers each time it waits. Returns its state.
async fn execute<S: Tested>(store: &S, flow: &Flow<State>, mut journal: RunJournal) -> State {
    use cogwork_flow::journal::Journal;

    let run_id = journal.run_id().to_owned();
    loop {
        let mut state: State = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        match run.finish(&mut state).await {
            Ok(_) => return state,
            Err(error) => assert!(error.paused().is_some(), "{error}"),
        }

        drop(run);
        store.deliver(&run_id, "number", &5).await.unwrap();
        journal = store.resume(&run_id, flow).await.unwrap();
    }
}

/// The number of the outermost step in which a call was made.
fn number(key: &str) -> u64 {
    let number = key.split_once('#').unwrap().1;
    let digits = number.split(|digit: char| !digit.is_ascii_digit());
    digits.into_iter().next().unwrap().parse().unwrap()
}

fn taken(calls: &Calls) -> Vec<u64> {
    let calls = std::mem::take(&mut *calls.lock().unwrap());
    let mut numbers: Vec<_> = calls.iter().map(|key| number(key)).collect();
    numbers.sort_unstable();
    numbers
}

async fn check<S: Tested>(places: &[Place]) {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let calls = Calls::default();
    let flow = flow("random", places, &calls);

    let journal = store.start("a", &flow, &State::new()).await.unwrap();
    let end = execute(&store, &flow, journal).await;
    let all = taken(&calls);
    let record = store.lines("a");

    // A fork that changes nothing ends as the original did, without a call.
    let journal = store.fork("a", &flow, Fork::at_end()).await.unwrap();
    assert_eq!(execute(&store, &flow, journal).await, end);
    assert_eq!(taken(&calls), [0_u64; 0]);

    for step in 1.. {
        let journal = match store.fork("a", &flow, Fork::at(step)).await {
            Ok(journal) => journal,
            Err(error) => {
                assert!(error.is_unknown_step() && step > 1, "{error}");
                break;
            }
        };
        assert_eq!(execute(&store, &flow, journal).await, end, "at {step}");
        let later = all.iter().copied().filter(|number| *number >= step);
        assert_eq!(taken(&calls), later.collect::<Vec<_>>(), "at {step}");

        // An edit that changes nothing takes the steps before it from the record, too.
        let fork = Fork::at(step).with_state(|_: &mut State| ());
        if let Ok(journal) = store.fork("a", &flow, fork).await {
            assert_eq!(execute(&store, &flow, journal).await, end, "at {step}");
            let later = all.iter().copied().filter(|number| *number >= step);
            assert_eq!(taken(&calls), later.collect::<Vec<_>>(), "at {step}");
        }

        edit_each_outcome(&store, &flow, &calls, step, &end, &all).await;
    }

    assert_eq!(store.lines("a"), record);
}

/// Replaces each outcome of a step by the recorded one. Then the fork ends like the original, and
/// takes at least the earlier steps from the record.
async fn edit_each_outcome<S: Tested>(
    store: &S,
    flow: &Flow<State>,
    calls: &Calls,
    step: u64,
    end: &State,
    all: &[u64],
) {
    use cogwork_flow::journal::Entry;

    for recorded in store.entries("a", ..).await.unwrap() {
        let Entry::Outcome {
            step: name,
            outcome,
        } = recorded.entry
        else {
            continue;
        };
        if number(&name) != step {
            continue;
        }

        let outcome: serde_json::Value = outcome.read().unwrap();
        let fork = Fork::at(step).with_outcome_of(&name, &outcome);
        let journal = store.fork("a", flow, fork).await.unwrap();
        assert_eq!(execute(store, flow, journal).await, *end, "{name}");

        let made = taken(calls);
        let after = all.iter().filter(|number| **number > step).count();
        let of_step = all.iter().filter(|number| **number == step).count();
        assert!(made.iter().all(|number| *number >= step), "{name}");
        assert!((after..=after + of_step).contains(&made.len()), "{name}");
    }
}

fn check_random_flows<S: Tested>(cases: u32) {
    let cases = if is_long() { 10 * cases } else { cases };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let mut runner = TestRunner::new(Config {
        cases,
        ..Config::default()
    });
    let checked = runner.run(&places(), |places| {
        runtime.block_on(check::<S>(&places));
        Ok(())
    });
    checked.unwrap();
}

#[test]
fn a_fork_of_a_random_flow_in_files() {
    check_random_flows::<crate::each::FileStore>(3);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_fork_of_a_random_flow_in_a_database() {
    check_random_flows::<crate::each::SqliteStore>(2);
}

#[cfg(feature = "postgres")]
#[test]
fn a_fork_of_a_random_flow_in_postgres() {
    if crate::server::url().is_some() {
        check_random_flows::<cogwork_journal::PostgresStore>(1);
    }
}
