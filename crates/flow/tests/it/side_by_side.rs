//! A flow over each of many items, and several flows side by side.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use cogwork_flow::{
    Action, Backoff, Batch, BoxError, Branches, Each, Flow, Node, from_exec, from_fn, from_phases,
};
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
        |n, _, doubled| *n = doubled,
    );

    Flow::builder("double")
        .start("work")
        .node("work", node)
        .end("work", "default")
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
        .start("each")
        .each("each", each)
        .end("each", "default")
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
async fn no_more_run_at_once_than_is_said() {
    for (at_most, milliseconds) in [(0, 60), (1, 60), (2, 30), (3, 20), (100, 10)] {
        let (flow, counts) = over_each(at_most);
        let mut items = vec![10; 6];
        let started = Instant::now();
        flow.run(&mut items).await.unwrap();
        assert_eq!(started.elapsed().as_millis(), milliseconds);
        assert_eq!(counts.most.load(Ordering::SeqCst), at_most.clamp(1, 6));
    }
}

#[tokio::test(start_paused = true)]
async fn no_items_are_fine() {
    let (flow, _) = over_each(4);
    let mut items = Vec::new();
    assert_eq!(flow.run(&mut items).await.unwrap().steps, 1);
    assert!(items.is_empty());
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
async fn each_item_has_its_own_attempts() {
    // Fails as often as its number says.
    let failures: Arc<Vec<AtomicUsize>> = Arc::new((0..4).map(AtomicUsize::new).collect());
    let tries = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&tries);
    let node = from_phases(
        |n: &mut usize| *n,
        move |n| {
            let failures = Arc::clone(&failures);
            let tries = Arc::clone(&counted);
            async move {
                tries.fetch_add(1, Ordering::SeqCst);
                match failures[n].fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
                    left.checked_sub(1)
                }) {
                    Ok(_) => Err(format!("item {n} is not ready")),
                    Err(_) => Ok(10 * n),
                }
            }
        },
        |n, _, done| *n = done,
    )
    .retry(Backoff::of::<3>())
    .fallback(async |n, error| if n == 3 { Ok(99) } else { Err(error) });

    let item = Flow::builder("item")
        .start("work")
        .node("work", node)
        .end("work", "default")
        .build()
        .unwrap();

    let each = Each::at_most(
        4,
        item,
        |items: &Vec<usize>| items.clone(),
        |items, done| *items = done,
    );

    let flow = Flow::builder("all")
        .start("each")
        .each("each", each)
        .end("each", "default")
        .build()
        .unwrap();

    let mut items = vec![0, 1, 2, 3];
    flow.run(&mut items).await.unwrap();
    assert_eq!(
        items,
        [0, 10, 20, 99],
        "three attempts are enough for three of them, and not for the last"
    );

    assert_eq!(tries.load(Ordering::SeqCst), 1 + 2 + 3 + 3);
}

#[tokio::test(start_paused = true)]
async fn a_run_dropped_in_the_middle_leaves_the_state_and_drops_the_items() {
    let (flow, counts) = over_each(2);
    let mut items = vec![10, 20, 30];
    let run = tokio::time::timeout(Duration::from_millis(15), flow.run(&mut items)).await;
    assert!(run.is_err());
    assert_eq!(
        (items.as_slice(), counts.in_flight.load(Ordering::SeqCst)),
        ([10, 20, 30].as_slice(), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn steps_inside_count_towards_the_limit() {
    let (flow, _) = over_each(1);
    let mut items = vec![1, 2, 3, 4];
    let error = flow
        .begin()
        .with_max_steps(3)
        .finish(&mut items)
        .await
        .unwrap_err();

    assert!(error.is_step_limit());
    assert_eq!(
        error.to_string(),
        "flow `all/each[2]`, node `work`: the run reached its limit of 3 steps before this node"
    );
    assert_eq!(items, [1, 2, 3, 4]);
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

/// A loop of nodes that never wait, over one item.
fn busy() -> Flow<u64> {
    let item = Flow::builder("spin")
        .start("up")
        .node("up", from_fn(|n: &mut u64| *n += 1))
        .node(
            "look",
            from_fn(|n: &mut u64| {
                Action::from_static(if *n < 1_000_000_000 {
                    "again"
                } else {
                    "enough"
                })
            })
            .with_actions(["again", "enough"]),
        )
        .edge("up", "default", "look")
        .edge("look", "again", "up")
        .end("look", "enough")
        .build()
        .unwrap();

    let each = Each::in_turn(item, |n: &u64| vec![*n], |n, done| *n = done.iter().sum());
    Flow::builder("busy")
        .start("each")
        .each("each", each)
        .end("each", "default")
        .build()
        .unwrap()
}

#[tokio::test]
async fn items_that_never_wait_can_be_stopped_too() {
    let flow = busy();
    let mut n = 0;
    let mut run = flow
        .begin()
        .with_max_steps(u64::MAX)
        .with_deadline(Instant::now() + Duration::from_millis(5));
    assert!(run.finish(&mut n).await.unwrap_err().is_deadline());
    let mut run = flow.begin().with_max_steps(u64::MAX);

    assert!(
        tokio::time::timeout(Duration::from_millis(5), run.finish(&mut n))
            .await
            .is_err()
    );

    assert_eq!(n, 0);
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
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default")
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
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default");
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

/// Each item is a pair, each pair forks, each half is a list of items again.
#[tokio::test(start_paused = true)]
async fn items_and_branches_nest() {
    type Pair = (Vec<u64>, Vec<u64>);
    let (left, _) = over_each(2);
    let (right, _) = over_each(2);
    let branches = Branches::new()
        .branch(
            "left",
            left,
            |pair: &Pair| pair.0.clone(),
            |pair, left| pair.0 = left,
        )
        .branch(
            "right",
            right,
            |pair: &Pair| pair.1.clone(),
            |pair, right| pair.1 = right,
        );

    let pair = Flow::builder("pair")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default")
        .build()
        .unwrap();

    let each = Each::at_most(
        2,
        pair,
        |pairs: &Vec<Pair>| pairs.clone(),
        |pairs, done| *pairs = done,
    );

    let flow = Flow::builder("pairs")
        .start("each")
        .each("each", each)
        .node(
            "count",
            from_fn(|pairs: &mut Vec<Pair>| pairs.push((vec![], vec![]))),
        )
        .edge("each", Action::DEFAULT, "count")
        .end("count", "default")
        .build()
        .unwrap();

    let mut pairs = vec![(vec![1, 2], vec![3]), (vec![], vec![4, 5, 6])];
    flow.run(&mut pairs).await.unwrap();
    assert_eq!(
        pairs,
        [
            (vec![2, 4], vec![6]),
            (vec![], vec![8, 10, 12]),
            (vec![], vec![])
        ]
    );

    let error = flow
        .run(&mut vec![(vec![], vec![7, 13])])
        .await
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "flow `pairs/each[0]/fork/right/each[1]`, node `work`: exec failed: 13 is unlucky"
    );
}

fn nested(levels: usize) -> Result<Flow<u32>, cogwork_flow::BuildError> {
    let count = from_fn(|n: &mut u32| *n += 1);
    let mut flow = Flow::builder("0")
        .start("n")
        .node("n", count)
        .end("n", "default")
        .build()?;

    for level in 1..=levels {
        let each = Each::in_turn(
            flow,
            |n: &u32| vec![*n],
            |n: &mut u32, done| *n = done.iter().sum(),
        );
        flow = Flow::builder(level.to_string())
            .start("s")
            .each("s", each)
            .end("s", "default")
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

#[test]
fn items_and_branches_are_drawn_as_boxes() {
    insta::assert_snapshot!(branches().mermaid(), @r#"
    flowchart TD
        start0(( )) --> n0
        subgraph n0["fork: side by side"]
            subgraph n1["left"]
                start_n1(( )) --> n3
                n3["work"]
                n3 -->|"default"| end_n1(((end)))
            end
            subgraph n2["right"]
                start_n2(( )) --> n4
                n4["work"]
                n4 -->|"default"| end_n2(((end)))
            end
        end
        n0 -->|"default"| end0(((end)))
    "#);
    insta::assert_snapshot!(over_each(4).0.mermaid(), @r#"
    flowchart TD
        start0(( )) --> n0
        subgraph n0["each: each item, at most 4 at a time"]
            start_n0(( )) --> n1
            n1["work"]
            n1 -->|"default"| end_n0(((end)))
        end
        n0 -->|"default"| end0(((end)))
    "#);
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
