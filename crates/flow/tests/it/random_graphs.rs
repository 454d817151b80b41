//! Any graph is accepted exactly when it is whole, and what is accepted never strays in a run.

#![expect(
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use std::cell::Cell;
use std::collections::{HashMap, HashSet};

use cogwork_flow::{Action, Flow, from_fn};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

/// Numbers stand for names and labels.
#[derive(Debug, Clone)]
struct Graph {
    starts: Vec<u8>,
    nodes: Vec<(u8, Vec<u8>)>,
    /// From, on, to; no target is an end.
    edges: Vec<(u8, u8, Option<u8>)>,
}

#[derive(Debug, Clone)]
enum Fault {
    DropEdge(prop::sample::Index),
    AddEdge(u8, u8, Option<u8>),
    AddNode(u8, Vec<u8>),
    DropNode(prop::sample::Index),
    AddStart(u8),
    DropStarts,
}

fn fault() -> impl Strategy<Value = Fault> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        index().prop_map(Fault::DropEdge),
        (0..6u8, 0..4u8, prop::option::of(0..6u8))
            .prop_map(|(from, on, to)| Fault::AddEdge(from, on, to)),
        (0..6u8, prop::collection::vec(0..4u8, 0..2))
            .prop_map(|(name, on)| Fault::AddNode(name, on)),
        index().prop_map(Fault::DropNode),
        (0..6u8).prop_map(Fault::AddStart),
        Just(Fault::DropStarts),
    ]
}

/// Graphs that have an edge for each action and are mostly reachable, and then up to two faults.
fn graph() -> impl Strategy<Value = Graph> {
    let nodes = prop::collection::vec(prop::collection::btree_set(0..4u8, 1..4), 1..6);
    let targets = prop::collection::vec(prop::option::of(0..5u8), 24);
    (nodes, targets, prop::collection::vec(fault(), 0..3)).prop_map(|(nodes, targets, faults)| {
        let count = nodes.len() as u8;
        let mut targets = targets.into_iter().cycle();
        let mut graph = Graph {
            starts: vec![0],
            nodes: Vec::new(),
            edges: Vec::new(),
        };

        for (name, actions) in (0..).zip(nodes) {
            for (index, on) in actions.iter().enumerate() {
                let next = (index == 0 && name + 1 < count).then_some(name + 1);
                let to = next.or_else(|| targets.next().flatten().map(|to| to % count));
                graph.edges.push((name, *on, to));
            }

            graph.nodes.push((name, actions.into_iter().collect()));
        }

        for fault in faults {
            match fault {
                Fault::DropEdge(at) if !graph.edges.is_empty() => {
                    graph.edges.remove(at.index(graph.edges.len()));
                }
                Fault::DropNode(at) if !graph.nodes.is_empty() => {
                    graph.nodes.remove(at.index(graph.nodes.len()));
                }
                Fault::AddEdge(from, on, to) => graph.edges.push((from, on, to)),
                Fault::AddNode(name, actions) => graph.nodes.push((name, actions)),
                Fault::AddStart(name) => graph.starts.push(name),
                Fault::DropStarts => graph.starts.clear(),
                Fault::DropEdge(_) | Fault::DropNode(_) => {}
            }
        }

        graph
    })
}

/// What "whole" means, said once more and in another way than the library does.
fn is_whole(graph: &Graph) -> bool {
    let names: HashSet<u8> = graph.nodes.iter().map(|(name, _)| *name).collect();
    let declared: HashSet<(u8, u8)> = graph
        .nodes
        .iter()
        .flat_map(|(name, actions)| actions.iter().map(|on| (*name, *on)))
        .collect();

    let borne: HashMap<(u8, u8), Option<u8>> = graph
        .edges
        .iter()
        .map(|(from, on, to)| ((*from, *on), *to))
        .collect();

    // One that is named twice is the same start.
    let starts: HashSet<_> = graph.starts.iter().copied().collect();
    let [start] = starts.into_iter().collect::<Vec<_>>()[..] else {
        return false;
    };

    let mut reached = HashSet::from([start]);
    for _ in &graph.nodes {
        let next: Vec<u8> = borne
            .iter()
            .filter(|((from, _), _)| reached.contains(from))
            .filter_map(|(_, to)| *to)
            .collect();
        reached.extend(next);
    }

    names.len() == graph.nodes.len()
        && graph.nodes.iter().all(|(_, actions)| !actions.is_empty())
        && borne.len() == graph.edges.len()
        && declared == borne.keys().copied().collect()
        && reached == names
}

/// The state is the random source: each visit takes the next choice.
fn build(graph: &Graph) -> Option<Flow<Vec<u8>>> {
    let mut builder = Flow::builder("random");
    for start in &graph.starts {
        builder = builder.start(start.to_string());
    }

    for (name, actions) in &graph.nodes {
        let declared: Vec<Action> = actions
            .iter()
            .map(|on| Action::new(on.to_string()))
            .collect();
        let answers = declared.clone();
        let node = from_fn(move |choices: &mut Vec<u8>| {
            let choice = usize::from(choices.pop().unwrap_or_default());
            answers[choice % answers.len()].clone()
        });
        builder = builder.node(name.to_string(), node.with_actions(declared));
    }

    for (from, on, to) in &graph.edges {
        builder = match to {
            Some(to) => builder.edge(from.to_string(), on.to_string(), to.to_string()),
            None => builder.end(from.to_string(), on.to_string()),
        };
    }

    builder.build().ok()
}

#[test]
fn a_graph_is_accepted_exactly_when_it_is_whole_and_then_runs_along_its_edges() {
    let accepted = Cell::new(0);
    let refused = Cell::new(0);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut runner = TestRunner::new(Config {
        cases: 2_000,
        ..Config::default()
    });
    let choices = prop::collection::vec(any::<u8>(), 64);
    let outcome = runner.run(&(graph(), choices), |(graph, mut choices)| {
        let flow = build(&graph);
        prop_assert_eq!(flow.is_some(), is_whole(&graph));
        let counted = if flow.is_some() { &accepted } else { &refused };
        counted.set(counted.get() + 1);

        if let Some(flow) = flow {
            let end = runtime.block_on(flow.begin().with_max_steps(64).finish(&mut choices));
            prop_assert!(
                end.as_ref()
                    .map_or_else(|error| error.is_step_limit(), |end| end.steps > 0),
                "{:?}",
                end
            );

            prop_assert_eq!(choices.len() as u64, 64 - end.map_or(64, |end| end.steps));
        }

        Ok(())
    });

    if let Err(failure) = outcome {
        panic!("{failure}");
    }

    // Else the test would say little: both kinds of graph were met often.
    assert!(
        accepted.get() > 200 && refused.get() > 200,
        "{accepted:?} accepted, {refused:?} refused"
    );
}
