//! The names of a run's steps are unique, whatever the nodes are called.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::engine::{Entry, Recorded};
use cogwork_flow::nodes::Phase;
use cogwork_flow::watch::{EventKind, events};
use cogwork_flow::{
    Action, Batch, BoxError, Branches, Each, Flow, FlowBuilder, Node, from_phases, idempotency_key,
};
use lines::Lines;
use proptest::prelude::*;

type Keys = Arc<Mutex<Vec<String>>>;

#[derive(Debug, Clone)]
enum Place {
    Node,
    Batch,
    Subflow(Vec<(String, Place)>),
    Each(Vec<(String, Place)>),
    Branches(Vec<(String, Vec<(String, Place)>)>),
}

/// Short names of what could be taken for a part of another, and a few long ones.
fn name() -> impl Strategy<Value = String> {
    let part = prop::sample::select(vec![
        "", "a", "1", "/", "#", "[", "]", "%", "#1", "[0]", "/a#1", "%2F", "%23", "\n", "\"", "\\",
        "é", "\u{2028}", "\0",
    ]);
    let parts = prop::collection::vec(part, 0..4);
    (parts, prop::bool::weighted(0.02))
        .prop_map(|(parts, long)| parts.concat() + if long { LONG } else { "" })
}

const LONG: &str = match std::str::from_utf8(&[b'/'; 10_000]) {
    Ok(long) => long,
    Err(_) => "",
};

fn flow_of(place: impl Strategy<Value = Place>) -> impl Strategy<Value = Vec<(String, Place)>> {
    prop::collection::vec((name(), place), 1..4).prop_map(without_repeats)
}

fn without_repeats<T>(mut named: Vec<(String, T)>) -> Vec<(String, T)> {
    let mut seen = HashSet::new();
    named.retain(|(name, _)| seen.insert(name.clone()));
    named
}

fn any_flow() -> impl Strategy<Value = Vec<(String, Place)>> {
    let place =
        prop_oneof![Just(Place::Node), Just(Place::Batch)].prop_recursive(3, 24, 3, |inner| {
            prop_oneof![
                flow_of(inner.clone()).prop_map(Place::Subflow),
                flow_of(inner.clone()).prop_map(Place::Each),
                prop::collection::vec((name(), flow_of(inner)), 1..3)
                    .prop_map(|branches| Place::Branches(without_repeats(branches))),
            ]
        });
    flow_of(place)
}

fn call(keys: &Keys) -> impl Node<u64, Exec = u64> + use<> {
    let keys = Arc::clone(keys);
    from_phases(
        |n: &mut u64| *n,
        move |n| {
            keys.lock().unwrap().push(idempotency_key().unwrap());
            async move { Ok::<_, BoxError>(n + 1) }
        },
        |n, more| *n = more,
    )
}

/// The places one after the other, and each goes by a label as odd as its name.
fn build(name: &str, places: &[(String, Place)], keys: &Keys) -> Flow<u64> {
    let mut flow: FlowBuilder<u64> = Flow::builder(name).start(places[0].0.clone());
    for (index, (name, place)) in places.iter().enumerate() {
        let two = |n: &u64| vec![*n, *n + 100];
        let join = |n: &mut u64, all: Vec<u64>| *n = all.iter().sum::<u64>() % 1_000;
        let inner = |places: &[(String, Place)]| build("the flow's own name", places, keys);
        flow = match place {
            Place::Node => flow.node(name, call(keys)),
            Place::Batch => flow.batch(name, Batch::at_most(2, call(keys), two, join)),
            Place::Subflow(places) => flow.subflow(name, inner(places), |n: &mut u64| n),
            Place::Each(places) => flow.each(name, Each::at_most(2, inner(places), two, join)),
            Place::Branches(branches) => {
                let add = |all: Branches<u64>, (name, places): &(String, Vec<_>)| {
                    all.branch(
                        name,
                        inner(places),
                        |n: &u64| *n,
                        |n, part| *n = (*n + part) % 1_000,
                    )
                };
                flow.branches(name, branches.iter().fold(Branches::new(), add))
            }
        };

        flow = match places.get(index + 1) {
            Some((next, _)) => flow.edge(name, Action::DEFAULT, next),
            None => flow.end(name, Action::DEFAULT),
        };
    }

    flow.build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50))]

    #[test]
    fn every_step_has_a_name_of_its_own(name in name(), places in any_flow()) {
        let (keys, lines) = (Keys::default(), Lines::default());
        let flow = build(&name, &places, &keys);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let (sink, mut told) = events(100_000);
        let mut first = 1;
        let run = flow.begin().with_journal(lines.journal()).with_events(sink);
        runtime.block_on({ run }.finish(&mut first)).unwrap();
        let made = keys.lock().unwrap().clone();
        prop_assert_eq!(made.iter().collect::<HashSet<_>>().len(), made.len(), "{:?}", made);

        // Read again from its text, as from a file, nothing is done again.
        let text = lines.text();
        let entries: Vec<Entry> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut again = 1;
        let journal = Recorded::over("r", entries, Lines::default()).unwrap();
        runtime.block_on(flow.begin().with_journal(journal).finish(&mut again)).unwrap();
        prop_assert_eq!((again, keys.lock().unwrap().len()), (first, made.len()));

        // Each item tells of its own step.
        let mut items = 0;
        while let Some(event) = runtime.block_on(told.next()) {
            let is_item = event.step.is_some_and(|step| step.item.is_some());
            items += usize::from(is_item && matches!(event.kind, EventKind::PhaseFinished { phase: Phase::Exec, .. }));
        }
        let is_item = |key: &&String| key.ends_with(']');
        prop_assert_eq!(items, made.iter().filter(is_item).count());

        let graph: FlowGraph = serde_json::from_str(&serde_json::to_string(&flow.graph()).unwrap()).unwrap();
        prop_assert_eq!(flow.graph().difference(&graph), None);
    }
}

#[tokio::test]
async fn names_are_written_so_that_nothing_reads_as_their_end() {
    let keys = Keys::default();
    let places = [(
        "a/b#1[0]\n%".to_owned(),
        Place::Subflow(vec![(String::new(), Place::Batch)]),
    )];
    let flow = build("\"é\"", &places, &keys);
    flow.begin()
        .with_journal(Lines::default().journal())
        .finish(&mut 1)
        .await
        .unwrap();

    assert_eq!(
        keys.lock().unwrap()[0],
        "r:\"é\"/a%2Fb%231%5B0%5D%0A%25/#1[0]"
    );
}
