//! Runs, step by step.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use cogwork_flow::{Action, Ended, Flow, Node, RunError, Stepped, from_fn, from_phases};
use insta::assert_snapshot;

type Log = Vec<&'static str>;

fn says(word: &'static str) -> impl Node<Log> + use<> {
    from_fn(move |log: &mut Log| log.push(word))
}

fn line(words: [&'static str; 2]) -> Flow<Log> {
    let [first, second] = words;
    Flow::builder("line")
        .start(first)
        .node(first, says(first))
        .edge(first, "default", second)
        .node(second, says(second))
        .end(second, "default")
        .build()
        .unwrap()
}

/// Counts down, and answers `again` until it is at 0, then `zero`.
fn countdown(name: &str) -> Flow<u32> {
    let count = from_fn(|left: &mut u32| {
        *left = left.saturating_sub(1);
        Action::from_static(if *left == 0 { "zero" } else { "again" })
    });
    Flow::builder(name)
        .start("count")
        .node("count", count.with_actions(["again", "zero"]))
        .edge("count", "again", "count")
        .end("count", "zero")
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_node_can_lead_back_to_itself() {
    let mut left = 5;
    let ended = countdown("c").run(&mut left).await.unwrap();
    assert_eq!((left, ended.steps, ended.action.as_str()), (0, 5, "zero"));
}

#[tokio::test]
async fn subflows_nest_over_the_same_state_and_over_parts_of_it() {
    struct App {
        before: u32,
        log: Log,
    }

    let middle = Flow::builder("middle")
        .start("b")
        .node("b", says("b"))
        .edge("b", "default", "inner")
        .subflow("inner", line(["c", "d"]), |log| log)
        .edge("inner", "default", "e")
        .node("e", says("e"))
        .end("e", "default")
        .build()
        .unwrap();

    let flow = Flow::builder("outer")
        .start("a")
        .node("a", says("a").focus(|app: &mut App| &mut app.log))
        .edge("a", "default", "middle")
        .subflow("middle", middle, |app: &mut App| &mut app.log)
        .edge("middle", "default", "countdown")
        .subflow("countdown", countdown("c"), |app: &mut App| &mut app.before)
        .end("countdown", "zero")
        .build()
        .unwrap();

    let mut app = App {
        before: 2,
        log: Vec::new(),
    };
    let mut run = flow.begin();
    let mut visited = Vec::new();

    while let Some(node) = run.node() {
        visited.push(node);
        run.step(&mut app).await.unwrap();
    }

    assert_eq!(visited, ["a", "b", "c", "d", "e", "count", "count"]);
    assert_eq!((app.before, app.log), (0, vec!["a", "b", "c", "d", "e"]));
}

#[tokio::test]
async fn an_edge_can_lead_from_a_subflow_back_to_it() {
    let flow = Flow::builder("loop")
        .start("line")
        .subflow("line", line(["a", "b"]), |log| log)
        .edge("line", "default", "enough")
        .node(
            "enough",
            from_fn(|log: &mut Log| Action::from_static(if log.len() < 6 { "no" } else { "yes" }))
                .with_actions(["yes", "no"]),
        )
        .edge("enough", "no", "line")
        .end("enough", "yes")
        .build()
        .unwrap();

    let mut log = Log::new();
    assert_eq!(flow.run(&mut log).await.unwrap().steps, 9);
    assert_eq!(log, ["a", "b", "a", "b", "a", "b"]);

    let turns = Flow::builder("itself")
        .start("line")
        .subflow("line", line(["a", "b"]), |log| log)
        .edge("line", "default", "line")
        .build()
        .unwrap();

    let mut log = Log::new();
    let error = turns
        .begin()
        .with_max_steps(5)
        .finish(&mut log)
        .await
        .unwrap_err();

    assert_eq!(log, ["a", "b", "a", "b", "a"]);
    assert_snapshot!(error, @"flow `itself/line`, node `b`: the run reached its limit of 5 steps before this node");
}

#[tokio::test]
async fn a_run_at_its_step_limit_goes_on_when_the_limit_is_raised() {
    let flow = countdown("c");
    let mut left = 5;
    let mut run = flow.begin().with_max_steps(3);
    let error = loop {
        match run.step(&mut left).await {
            Ok(stepped) => assert!(matches!(stepped, Stepped::Moved { .. })),
            Err(error) => break error,
        }
    };

    assert_eq!((left, run.steps(), run.node()), (2, 3, Some("count")));
    assert_snapshot!(error, @"flow `c`, node `count`: the run reached its limit of 3 steps before this node");
    assert!(error.is_step_limit());
    assert_eq!((error.phase(), error.attempts()), (None, None));
    assert!(error.source().is_none() && error.into_source().is_none());
    assert!(run.step(&mut left).await.unwrap_err().is_step_limit());

    let ended = run.with_max_steps(5).finish(&mut left).await.unwrap();
    assert_eq!((left, ended.steps), (0, 5));

    let error = flow
        .begin()
        .with_max_steps(1)
        .finish(&mut 9)
        .await
        .unwrap_err();
    assert_snapshot!(error, @"flow `c`, node `count`: the run reached its limit of 1 step before this node");
    let mut untouched = 9;
    assert!(
        flow.begin()
            .with_max_steps(0)
            .finish(&mut untouched)
            .await
            .unwrap_err()
            .is_step_limit()
    );

    assert_eq!(untouched, 9);
}

#[tokio::test]
async fn a_run_has_a_step_limit_unasked() {
    let mut left = 20_000;
    let error = countdown("c").run(&mut left).await.unwrap_err();
    assert!(error.is_step_limit());
    assert_eq!(left, 10_000);
}

#[tokio::test]
async fn stepping_does_what_a_whole_run_does() {
    let flow = line(["a", "b"]);
    let mut whole = Log::new();
    let mut stepped = Log::new();
    let ended = flow.run(&mut whole).await.unwrap();

    let mut run = flow.begin();
    assert_eq!((run.node(), run.steps()), (Some("a"), 0));
    assert_eq!(
        run.step(&mut stepped).await.unwrap(),
        Stepped::Moved {
            from: "a",
            action: Action::DEFAULT,
            to: "b"
        }
    );

    assert_eq!(
        (run.node(), run.steps(), &*stepped),
        (Some("b"), 1, &["a"][..])
    );
    assert_eq!(
        run.step(&mut stepped).await.unwrap(),
        Stepped::Ended(ended.clone())
    );
    assert_eq!(whole, stepped);

    // At the end a step changes nothing and answers the end again.
    assert_eq!((run.node(), run.steps()), (None, 2));
    assert_eq!(
        run.step(&mut stepped).await.unwrap(),
        Stepped::Ended(ended.clone())
    );
    assert_eq!(run.finish(&mut stepped).await.unwrap(), ended);
    assert_eq!(whole, stepped);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_flow_serves_many_runs_at_once() {
    let flow = Flow::builder("sum")
        .start("add")
        .node(
            "add",
            from_phases(
                |(left, _): &mut (u64, u64)| *left,
                |left| async move {
                    tokio::task::yield_now().await;
                    Ok::<_, fmt::Error>(left)
                },
                |(left, sum), n| {
                    *sum += n;
                    *left -= 1;
                    Action::from_static(if *left == 0 { "done" } else { "again" })
                },
            )
            .with_actions(["done", "again"]),
        )
        .edge("add", "again", "add")
        .end("add", "done")
        .build()
        .unwrap();

    let flow = Arc::new(flow);
    let runs: Vec<_> = (1..=200_u64)
        .map(|n| {
            let flow = Arc::clone(&flow);
            tokio::spawn(async move {
                let mut state = (n, 0);
                let steps = flow.run(&mut state).await.map(|ended| ended.steps);
                (n, state.1, steps)
            })
        })
        .collect();

    for run in runs {
        let (n, sum, steps) = run.await.unwrap();
        assert_eq!((sum, steps.unwrap()), (n * (n + 1) / 2, n));
    }
}

#[test]
fn flows_runs_errors_and_futures_can_go_to_other_threads() {
    fn can_go<T: Send>(_: &T) {}
    fn can_be_shared<T: Send + Sync + 'static>() {}

    // A `Cell` can be sent and not shared: a state asks for no more than `Send`.
    type State = std::cell::Cell<u32>;
    can_be_shared::<Flow<State>>();
    can_be_shared::<RunError>();
    can_be_shared::<Ended>();

    let flow = Flow::builder("f")
        .node("n", from_fn(|_: &mut State| ()))
        .chain(["n"]);
    let flow = flow.build().unwrap();
    let mut state = State::new(0);
    can_go(&flow.run(&mut state));

    let mut run = flow.begin();
    can_go(&run);
    can_go(&run.step(&mut state));
    can_go(&run.finish(&mut state));
}
