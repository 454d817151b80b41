//! Nodes made of closures, and everything such a closure may answer.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::nodes::Phase;
use cogwork_flow::{
    Action, Backoff, Batch, BoxError, Flow, Node, from_exec_with, from_fn, from_phases,
    from_phases_with,
};
use tokio::time::Instant;

/// A flow of one node that declares `default` and `other`.
fn flow(node: impl Node<i32> + 'static) -> Flow<i32> {
    let flow = Flow::builder("f").start("n").node("n", node);
    flow.end("n", "default").end("n", "other").build().unwrap()
}

const BOTH: [&str; 2] = ["default", "other"];

fn zero() -> BoxError {
    io::Error::other("zero").into()
}

#[tokio::test]
async fn a_closure_may_answer_nothing_a_label_an_action_or_a_result_of_these() {
    let nothing = flow(from_fn(|n: &mut i32| *n += 1).with_actions(BOTH));
    let mut n = 4;
    assert_eq!(nothing.run(&mut n).await.unwrap().action, Action::DEFAULT);
    assert_eq!(n, 5);

    let label = |n: i32| if n < 0 { "other" } else { "default" };
    let not_zero = |n: i32| (n != 0).then_some(n).ok_or_else(zero);
    let infallible = [
        flow(from_fn(move |n: &mut i32| label(*n)).with_actions(BOTH)),
        flow(from_fn(move |n: &mut i32| Action::from_static(label(*n))).with_actions(BOTH)),
    ];
    let fallible = [
        flow(from_fn(move |n: &mut i32| not_zero(*n).map(label)).with_actions(BOTH)),
        flow(from_fn(move |n: &mut i32| Ok(Action::new(label(not_zero(*n)?)))).with_actions(BOTH)),
    ];

    for flow in infallible.iter().chain(&fallible) {
        for (mut n, expected) in [(5, "default"), (-5, "other")] {
            assert_eq!(flow.run(&mut n).await.unwrap().action.as_str(), expected);
        }
    }

    for flow in fallible {
        let error = flow.run(&mut 0).await.unwrap_err();
        assert_eq!(error.to_string(), "flow `f`, node `n`: post failed: zero");
        assert_eq!(error.phase(), Some(Phase::Post));
        assert!(error.downcast_ref::<io::Error>().is_some());
    }
}

#[tokio::test]
async fn post_may_fail_with_any_error() {
    let node = from_phases(
        |text: &mut String| text.clone(),
        async |text| Ok::<_, io::Error>(text.len()),
        |text, length| {
            let number: usize = text.parse()?;
            *text = format!("{number} has {length} digits");
            Ok(())
        },
    );
    let flow = Flow::from_node("digits", node).unwrap();

    let mut text = "120".to_owned();
    flow.run(&mut text).await.unwrap();
    assert_eq!(text, "120 has 3 digits");

    let error = flow.run(&mut "x".to_owned()).await.unwrap_err();
    assert_eq!(error.phase(), Some(Phase::Post));
    assert!(error.downcast_ref::<std::num::ParseIntError>().is_some());
}

/// Each attempt gets a clone of its own.
#[tokio::test(start_paused = true)]
async fn a_value_is_passed_to_each_attempt() {
    let calls = Arc::new(AtomicUsize::new(0));
    let count = async |calls: Arc<AtomicUsize>, n: usize| {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        if call.is_multiple_of(3) {
            Ok(n + call)
        } else {
            Err("not yet")
        }
    };

    let phases = from_phases_with(
        Arc::clone(&calls),
        |n: &mut usize| *n,
        count,
        |n, sum| *n = sum,
    );
    let phases = phases.retry(Backoff::fixed::<3>(Duration::from_secs(1)));
    let started = Instant::now();
    let mut n = 10;
    Flow::from_node("count", phases)
        .unwrap()
        .run(&mut n)
        .await
        .unwrap();
    assert_eq!((n, started.elapsed().as_secs()), (13, 2));

    let exec = from_exec_with(calls, count).retry(Backoff::fixed::<3>(Duration::from_secs(1)));
    let batch = Batch::at_most(
        1,
        exec,
        |n: &usize| vec![*n; 2],
        |n, sums| *n = sums[0] + sums[1],
    );
    let flow = Flow::builder("sum")
        .batch("count", batch)
        .chain(["count"])
        .build()
        .unwrap();
    flow.run(&mut n).await.unwrap();
    assert_eq!(n, 13 + 6 + 13 + 9);
}
