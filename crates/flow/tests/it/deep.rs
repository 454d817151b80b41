//! Flows nested as deep as they may be, in a thread with the stack that threads have by default,
//! and flows of very many nodes.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::future::pending;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use cogwork_flow::{Action, BoxError, Flow, from_fn, from_phases};

const DEPTH: usize = 30;
const STACK: usize = 2 << 20;

/// What the innermost node does.
#[derive(Clone, Copy)]
enum Innermost {
    Counts,
    Fails,
    Waits,
}

fn nested(innermost: Innermost) -> Flow<u32> {
    let node = from_phases(
        |_: &mut u32| (),
        move |()| async move {
            match innermost {
                Innermost::Counts => Ok(()),
                Innermost::Fails => Err(BoxError::from("too deep for me")),
                Innermost::Waits => pending().await,
            }
        },
        |n, _, ()| *n += 1,
    );

    let mut flow = Flow::builder("0")
        .node("n", node)
        .chain(["n"])
        .build()
        .unwrap();

    for level in 1..=DEPTH {
        let outer = Flow::builder(level.to_string());
        let inner = (level - 1).to_string();
        let outer = outer
            .start(&inner)
            .subflow(&inner, flow, |n: &mut u32| n)
            .end(&inner, "default");
        flow = outer.build().unwrap();
    }

    flow
}

/// Polls once and drops what is not done.
fn poll_once<T>(future: impl Future<Output = T>) -> Poll<T> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
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
        let Poll::Ready(Ok(ended)) = poll_once(nested(Innermost::Counts).run(&mut n)) else {
            panic!("the node neither waits nor fails");
        };

        assert_eq!((n, ended.steps, ended.action), (1, 1, Action::DEFAULT));
    });
}

#[test]
fn an_error_from_the_depth_names_every_flow() {
    with_small_stack(|| {
        let Poll::Ready(Err(error)) = poll_once(nested(Innermost::Fails).run(&mut 0)) else {
            panic!("the node fails at once");
        };

        let names: Vec<String> = (0..=DEPTH).rev().map(|level| level.to_string()).collect();
        assert_eq!(error.flow_path(), names);
        let path = names.join("/");
        assert_eq!(
            error.to_string(),
            format!("flow `{path}`, node `n`: exec failed: too deep for me")
        );
    });
}

#[test]
fn a_deep_flow_is_cancelled() {
    with_small_stack(|| {
        let flow = nested(Innermost::Waits);
        let mut n = 0;
        let mut run = flow.begin();
        assert!(poll_once(run.step(&mut n)).is_pending());
        assert_eq!((n, run.node(), run.steps()), (0, Some("n"), 0));
    });
}

/// Drawn in space linear in the nodes, and so in time.
#[test]
fn a_deep_flow_is_drawn() {
    with_small_stack(|| {
        let flow = nested(Innermost::Counts);
        let drawn = flow.mermaid();
        assert_eq!(drawn.matches("subgraph").count(), DEPTH);
        assert!(drawn.len() < 300 * DEPTH, "{} bytes", drawn.len());
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
