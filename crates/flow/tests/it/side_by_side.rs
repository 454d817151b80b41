//! A flow over each of many items, and several flows side by side.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::{Batch, BoxError, Branches, Each, Flow, from_exec, from_fn, from_phases};
use tokio::time::{Instant, sleep};

/// Sleeps for its number of milliseconds, fails on 13, then doubles the number.
fn double(in_flight: Arc<AtomicUsize>, most: Arc<AtomicUsize>) -> Flow<u64> {
    struct Leaves(Arc<AtomicUsize>);

    impl Drop for Leaves {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::SeqCst);
        }
    }

    let node = from_phases(
        |n: &mut u64| *n,
        move |n| {
            let in_flight = Arc::clone(&in_flight);
            let most = Arc::clone(&most);
            async move {
                most.fetch_max(
                    in_flight.fetch_add(1, Ordering::SeqCst) + 1,
                    Ordering::SeqCst,
                );
                let _leaves = Leaves(in_flight);
                sleep(Duration::from_millis(n)).await;

                if n == 13 {
                    Err("13 is unlucky")
                } else {
                    Ok(2 * n)
                }
            }
        },
        |n, doubled| *n = doubled,
    );

    Flow::builder("double")
        .node("work", node)
        .chain(["work"])
        .build()
        .unwrap()
}

struct Counts {
    in_flight: Arc<AtomicUsize>,
    most: Arc<AtomicUsize>,
}

fn over_each(at_most: usize) -> (Flow<Vec<u64>>, Counts) {
    let counts = Counts {
        in_flight: Arc::default(),
        most: Arc::default(),
    };
    let item = double(Arc::clone(&counts.in_flight), Arc::clone(&counts.most));
    let each = Each::at_most(
        at_most,
        item,
        |items: &Vec<u64>| items.clone(),
        |items, done| *items = done,
    );

    let flow = Flow::builder("all")
        .each("each", each)
        .chain(["each"])
        .build()
        .unwrap();

    (flow, counts)
}

#[tokio::test(start_paused = true)]
async fn items_come_back_in_their_order_whoever_is_first() {
    let (flow, _) = over_each(8);
    let mut items = vec![50, 10, 30, 20, 40];
    let ended = flow.run(&mut items).await.unwrap();
    assert_eq!(items, [100, 20, 60, 40, 80]);
    assert_eq!(
        ended.steps, 6,
        "one step for each item and one for the visit around them"
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_that_fails_stops_the_others_and_is_named() {
    let (flow, counts) = over_each(3);
    let mut items = vec![1000, 13, 1000, 1000];
    let started = Instant::now();
    let error = flow.run(&mut items).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `all/each[1]`, node `work`: exec failed: 13 is unlucky"
    );
    assert_eq!(
        started.elapsed().as_millis(),
        13,
        "it does not wait for the items before it"
    );

    assert_eq!(
        counts.in_flight.load(Ordering::SeqCst),
        0,
        "the siblings are dropped, not left running"
    );

    assert_eq!(items, [1000, 13, 1000, 1000], "the state is as it was");
}

#[tokio::test(start_paused = true)]
async fn items_side_by_side_do_not_pass_the_limit_together() {
    let (flow, counts) = over_each(1000);
    let mut items = vec![10; 1000];
    let mut run = flow.begin().with_max_steps(11);
    assert!(run.finish(&mut items).await.unwrap_err().is_step_limit());
    assert_eq!(
        counts.most.load(Ordering::SeqCst),
        10,
        "one step is the visit around them"
    );

    assert_eq!(run.steps(), 0, "what came to nothing is given back");
    let mut run = run.with_max_steps(1001);
    assert_eq!(run.finish(&mut items).await.unwrap().steps, 1001);
}

fn branches() -> Flow<(u64, u64)> {
    let left = double(Arc::default(), Arc::default());
    let right = double(Arc::default(), Arc::default());
    let branches = Branches::new()
        .branch(
            "left",
            left,
            |both: &(u64, u64)| both.0,
            |both, left| both.0 = left,
        )
        .branch(
            "right",
            right,
            |both: &(u64, u64)| both.1,
            |both, right| both.1 = right + both.0,
        );

    Flow::builder("both")
        .branches("fork", branches)
        .chain(["fork"])
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn branches_run_at_once_and_are_joined_in_the_order_they_were_added() {
    let mut both = (40, 30);
    let started = Instant::now();
    let ended = branches().run(&mut both).await.unwrap();
    assert_eq!((both, ended.steps), ((80, 140), 3));
    assert_eq!(
        started.elapsed().as_millis(),
        40,
        "the longest alone, not the sum"
    );
}

#[test]
fn branches_of_one_name_are_refused() {
    let one = || double(Arc::default(), Arc::default());
    let branches = Branches::new()
        .branch("same", one(), |n: &u64| *n, |n, one| *n = one)
        .branch("same", one(), |n: &u64| *n, |n, other| *n = other);
    let flow = Flow::builder("both")
        .branches("fork", branches)
        .chain(["fork"]);
    insta::assert_snapshot!(flow.build().unwrap_err(), @"flow `both` has 1 problem: more than one branch of node `fork` is named `same`");
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_fails_stops_the_others() {
    let mut both = (1000, 13);
    let started = Instant::now();
    let error = branches().run(&mut both).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `both/fork/right`, node `work`: exec failed: 13 is unlucky"
    );
    assert_eq!((both, started.elapsed().as_millis()), ((1000, 13), 13));
}

fn nested(levels: usize) -> Result<Flow<u32>, cogwork_flow::BuildError> {
    let count = from_fn(|n: &mut u32| *n += 1);
    let mut flow = Flow::builder("0").node("n", count).chain(["n"]).build()?;

    for level in 1..=levels {
        let each = Each::at_most(
            1,
            flow,
            |n: &u32| vec![*n],
            |n: &mut u32, done| *n = done.iter().sum(),
        );
        flow = Flow::builder(level.to_string())
            .each("s", each)
            .chain(["s"])
            .build()?;
    }

    Ok(flow)
}

#[test]
fn nesting_that_would_exhaust_the_stack_is_refused() {
    let error = nested(31).unwrap_err();
    insta::assert_snapshot!(error, @"flow `31` has 1 problem: node `s` contains 31 flows inside one another; at most 30 may be");

    let deepest = std::thread::Builder::new().stack_size(2 << 20).spawn(|| {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        let mut n = 0;
        runtime.block_on(nested(30).unwrap().run(&mut n)).unwrap();

        n
    });

    assert_eq!(deepest.unwrap().join().unwrap(), 1);
}

/// A batch and an `Each` over a list, each of which chooses its edge.
fn chooses() -> [Flow<Vec<i32>>; 2] {
    let same = || from_exec(async |n: i32| Ok::<_, BoxError>(n));
    let split = |all: &Vec<i32>| match all.as_slice() {
        [] => Err("there is nothing to split".into()),
        all => Ok(all.to_vec()),
    };
    let choose = |sum: i32| match sum {
        13 => Err("13 is unlucky".into()),
        ..0 => Ok("negative"),
        _ => Ok("positive"),
    };
    let join = move |_: &mut Vec<i32>, all: Vec<i32>| choose(all.iter().sum());

    let both = ["negative", "positive"];
    let batch = Batch::at_most(2, same(), split, join).with_actions(both);
    let each = Each::at_most(2, Flow::from_node("n", same()).unwrap(), split, join);
    let flow = || {
        Flow::builder("f")
            .start("p")
            .end("p", "negative")
            .end("p", "positive")
    };
    [
        flow().batch("p", batch).build().unwrap(),
        flow().each("p", each.with_actions(both)).build().unwrap(),
    ]
}

#[tokio::test]
async fn places_of_many_items_choose_the_edge_and_may_fail() {
    for flow in chooses() {
        for (mut all, expected) in [(vec![-1, -2], "negative"), (vec![1, 2], "positive")] {
            assert_eq!(flow.run(&mut all).await.unwrap().action.as_str(), expected);
        }

        let split = flow.run(&mut vec![]).await.unwrap_err();
        assert_eq!(
            split.to_string(),
            "flow `f`, node `p`: prep failed: there is nothing to split"
        );
        let join = flow.run(&mut vec![6, 7]).await.unwrap_err();
        assert_eq!(
            join.to_string(),
            "flow `f`, node `p`: post failed: 13 is unlucky"
        );
    }
}

#[tokio::test]
async fn a_branch_that_cannot_be_stored_is_an_error() {
    let work = || Flow::from_node("n", from_fn(|_: &mut i32| ())).unwrap();
    let branches = Branches::new()
        .branch("stored", work(), |n: &i32| *n, |n, one| *n += one)
        .branch(
            "refused",
            work(),
            |n| *n,
            |_, _| Err("no room for it".into()),
        );
    let flow = Flow::builder("f")
        .branches("p", branches)
        .chain(["p"])
        .build()
        .unwrap();

    let error = flow.run(&mut 1).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `f`, node `p`: post failed: no room for it"
    );
}
