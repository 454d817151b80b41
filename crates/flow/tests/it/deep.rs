//! Flows nested as deep as they may be, in a thread with the stack that threads have by default,
//! and flows of very many nodes.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_flow::draw::FlowGraph;
use cogwork_flow::{Action, Flow, from_fn};
use futures_util::FutureExt;

const DEPTH: usize = 30;
const STACK: usize = 2 << 20;

fn nested() -> Flow<u32> {
    let mut flow = Flow::from_node("0", from_fn(|n: &mut u32| *n += 1)).unwrap();
    for level in 1..=DEPTH {
        let outer = Flow::builder(level.to_string());
        let inner = (level - 1).to_string();
        let outer = outer.subflow(&inner, flow, |n: &mut u32| n).chain([inner]);
        flow = outer.build().unwrap();
    }

    flow
}

fn with_small_stack(test: impl FnOnce() + Send + 'static) {
    std::thread::Builder::new()
        .stack_size(STACK)
        .spawn(test)
        .unwrap()
        .join()
        .unwrap();
}

#[test]
fn a_deep_flow_runs_and_is_dropped() {
    with_small_stack(|| {
        let mut n = 0;
        let ended = nested().run(&mut n).now_or_never().unwrap().unwrap();

        assert_eq!((n, ended.steps, ended.action), (1, 1, Action::DEFAULT));
    });
}

/// Drawn in space linear in the nodes, and so in time.
#[test]
fn a_deep_flow_is_drawn() {
    with_small_stack(|| {
        let flow = nested();
        let drawn = flow.mermaid();
        assert_eq!(drawn.matches("subgraph").count(), DEPTH);
        assert!(drawn.len() < 300 * DEPTH, "{} bytes", drawn.len());

        let graph = flow.graph();
        let json = serde_json::to_string(&graph).unwrap();
        let read: FlowGraph = serde_json::from_str(&json).unwrap();
        assert_eq!(read.difference(&graph), None);
    });
}

#[tokio::test]
async fn a_chain_of_100_000_nodes_is_built_and_run() {
    const NODES: u64 = 100_000;

    let mut builder = Flow::builder("chain")
        .start("0")
        .end((NODES - 1).to_string(), "default");
    for index in 0..NODES {
        builder = builder.node(index.to_string(), from_fn(|n: &mut u64| *n += 1));
        if index + 1 < NODES {
            builder = builder.edge(index.to_string(), "default", (index + 1).to_string());
        }
    }

    let flow = builder.build().unwrap();
    let mut n = 0;
    let ended = flow
        .begin()
        .with_max_steps(NODES)
        .finish(&mut n)
        .await
        .unwrap();
    assert_eq!((n, ended.steps), (NODES, NODES));
}
