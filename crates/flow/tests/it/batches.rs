//! One node over each of many items, in one step, with and without a journal.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use crate::lines;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::nodes::Phase;
use cogwork_flow::watch::{EventKind, events};
use cogwork_flow::{
    Action, Backoff, Batch, BoxError, Ended, Flow, Node, RunError, from_exec, from_phases,
};
use insta::assert_snapshot;
use lines::Lines;
use serde::{Deserialize, Serialize};
use tokio::time::{Instant, sleep};

/// What is asked of one item, and what came of it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
struct Item {
    /// How long one attempt takes, in milliseconds.
    takes: u64,
    /// The first attempts, so many, fail.
    failures: usize,
    fails_in: Option<String>,
    brought: Option<u64>,
}

fn taking(takes: u64) -> Item {
    Item {
        takes,
        ..Item::default()
    }
}

fn failing(failures: usize) -> Item {
    Item {
        failures,
        ..Item::default()
    }
}

/// Counts its calls; one for all items.
#[derive(Debug, Clone, Default)]
struct Work(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    calls: AtomicUsize,
    in_flight: AtomicUsize,
    most: AtomicUsize,
    attempts: Mutex<std::collections::HashMap<u64, usize>>,
}

impl Work {
    fn calls(&self) -> usize {
        self.0.calls.load(Ordering::SeqCst)
    }

    fn in_flight(&self) -> usize {
        self.0.in_flight.load(Ordering::SeqCst)
    }

    fn most(&self) -> usize {
        self.0.most.load(Ordering::SeqCst)
    }
}

struct Leaves(Work);

impl Drop for Leaves {
    fn drop(&mut self) {
        self.0.0.in_flight.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Node<Item> for Work {
    type Prep = Item;
    type Exec = u64;
    type Error = String;

    fn prep(&self, item: &mut Item) -> Result<Item, String> {
        if item.fails_in.as_deref() == Some("prep") {
            Err("nothing to fetch".to_owned())
        } else {
            Ok(item.clone())
        }
    }

    async fn exec(&self, item: &Item) -> Result<u64, String> {
        let counts = &self.0;
        counts.calls.fetch_add(1, Ordering::SeqCst);
        counts.most.fetch_max(
            counts.in_flight.fetch_add(1, Ordering::SeqCst) + 1,
            Ordering::SeqCst,
        );
        let _leaves = Leaves(self.clone());
        let attempt = {
            let mut attempts = counts.attempts.lock().unwrap();

            // Items of one test that fail take different times, and are told apart by them.
            let attempt = attempts.entry(item.takes).or_default();
            *attempt += 1;
            *attempt
        };

        if item.takes > 0 {
            sleep(Duration::from_millis(item.takes)).await;
        }

        if attempt <= item.failures {
            Err(format!("no answer to call {attempt}"))
        } else {
            Ok(2 * item.takes)
        }
    }

    fn post(&self, _: &mut Item, _: Item, _: u64) -> Result<Action, String> {
        Err("a batch calls no `post`".to_owned())
    }
}

type Items = Vec<Item>;

fn store(items: &mut Items, brought: Vec<u64>) -> Result<(), BoxError> {
    if items.iter().any(|item| item.fails_in.is_some()) {
        return Err("no room for it".into());
    }

    for (item, brought) in items.iter_mut().zip(brought) {
        item.brought = Some(brought);
    }
    Ok(())
}

fn over(at_most: usize, node: impl Node<Item, Exec = u64> + 'static) -> Flow<Items> {
    let batch = Batch::at_most(at_most, node, |items: &Items| items.clone(), store);
    Flow::builder("crawl")
        .batch("fetch", batch)
        .chain(["fetch"])
        .build()
        .unwrap()
}

/// The same run without a journal and with one. Both must come to the same, which is answered once.
async fn run(flow: &Flow<Items>, items: &mut Items) -> Result<Ended, RunError> {
    let mut same = items.clone();
    let plain = flow.run(items).await;
    let journaled = flow
        .begin()
        .with_journal(MemoryJournal::new("r"))
        .finish(&mut same)
        .await;

    let line = |result: &Result<Ended, RunError>| format!("{result:?}");
    assert_eq!(
        (line(&plain), &*items),
        (line(&journaled), &same),
        "a journal changes nothing"
    );

    plain
}

#[tokio::test(start_paused = true)]
async fn no_more_are_worked_on_at_once_than_is_said() {
    for (at_most, milliseconds) in [(0, 60), (1, 60), (2, 30), (3, 20), (100, 10)] {
        let work = Work::default();
        let started = Instant::now();
        let mut items = vec![taking(10); 6];
        run(&over(at_most, work.clone()), &mut items).await.unwrap();
        assert_eq!(
            started.elapsed().as_millis(),
            2 * milliseconds,
            "once without a journal and once with"
        );

        assert_eq!((work.most(), work.calls()), (at_most.clamp(1, 6), 12));
    }

    let work = Work::default();
    let started = Instant::now();
    let batch = Batch::at_most(1, work.clone(), |items: &Items| items.clone(), store);

    let flow = Flow::builder("crawl")
        .batch("fetch", batch)
        .chain(["fetch"])
        .build()
        .unwrap();

    flow.run(&mut vec![taking(10); 6]).await.unwrap();
    assert_eq!((work.most(), started.elapsed().as_millis()), (1, 60));
}

#[tokio::test(start_paused = true)]
async fn results_come_back_in_the_order_of_the_items() {
    let mut items: Items = [50, 10, 30, 20, 40].map(taking).to_vec();
    let ended = run(&over(3, Work::default()), &mut items).await.unwrap();
    let brought: Vec<_> = items.iter().map(|item| item.brought.unwrap()).collect();
    assert_eq!(brought, [100, 20, 60, 40, 80]);
    assert_eq!(
        (ended.steps, ended.action),
        (1, Action::DEFAULT),
        "the batch is one step"
    );
}

fn three_attempts() -> Backoff {
    Backoff::of::<3>()
        .with_first(Duration::from_millis(100))
        .with_factor(1.0)
        .with_jitter(false)
}

#[tokio::test(start_paused = true)]
async fn each_item_has_its_own_attempts() {
    let work = Work::default();
    let mut items: Items = (0..3)
        .map(|n| Item {
            takes: 10 + n,
            failures: n as usize,
            ..Item::default()
        })
        .collect();

    let started = Instant::now();
    over(9, work.clone().retry(three_attempts()))
        .run(&mut items)
        .await
        .unwrap();
    assert_eq!(work.calls(), 1 + 2 + 3);
    assert!(
        items
            .iter()
            .all(|item| item.brought == Some(2 * item.takes))
    );

    let took = started.elapsed().as_millis();
    assert!(
        (12 * 3 + 200..250).contains(&took),
        "the slowest, and its two delays: {took}"
    );
}

#[tokio::test(start_paused = true)]
async fn the_error_names_the_item_the_phase_and_its_attempts() {
    // Fails as often as it is tried, in whichever run.
    let mut items = vec![
        taking(1000),
        taking(1001),
        taking(1002),
        failing(usize::MAX),
        taking(1003),
    ];

    let work = Work::default();
    let started = Instant::now();
    let flow = over(4, work.clone().retry(three_attempts()));
    let before = items.clone();
    let error = flow.run(&mut items).await.unwrap_err();

    assert_snapshot!(error, @"flow `crawl`, node `fetch`, item 3: exec failed after 3 attempts: no answer to call 3");
    assert_eq!(
        (error.item(), error.phase(), error.attempts()),
        (Some(3), Some(Phase::Exec), Some(3))
    );
    assert!(
        started.elapsed().as_millis() < 210,
        "it does not wait for its siblings"
    );
    assert_eq!(
        (work.in_flight(), work.calls()),
        (0, 6),
        "they are dropped, and the next is not begun"
    );

    assert_eq!(items, before, "the state is as it was");

    let error = flow
        .begin()
        .with_journal(MemoryJournal::new("r"))
        .finish(&mut items)
        .await
        .unwrap_err();

    assert_snapshot!(error, @"flow `crawl`, node `fetch`, item 3: exec failed after 3 attempts: no answer to call 6");
    assert_eq!(
        (error.item(), error.attempts(), work.in_flight()),
        (Some(3), Some(3), 0)
    );
}

#[tokio::test(start_paused = true)]
async fn an_item_that_cannot_be_prepared_is_named() {
    let ill = |phase: &str| Item {
        fails_in: Some(phase.to_owned()),
        ..Item::default()
    };
    let work = Work::default();
    let mut items = vec![taking(1), ill("prep")];
    let error = run(&over(1, work.clone()), &mut items).await.unwrap_err();
    assert_snapshot!(error, @"flow `crawl`, node `fetch`, item 1: prep failed: nothing to fetch");
    assert_eq!(work.calls(), 0, "nothing is begun before all are prepared");

    let mut items = vec![taking(1), taking(2), ill("join")];
    let error = run(&over(2, work), &mut items).await.unwrap_err();
    assert_snapshot!(error, @"flow `crawl`, node `fetch`: post failed: no room for it");
    assert_eq!(
        error.item(),
        None,
        "it is the list that could not be stored"
    );
    assert_eq!(items[0].brought, None, "the state is as it was");
}

#[tokio::test(start_paused = true)]
async fn a_batch_dropped_in_the_middle_leaves_the_state_and_keeps_what_is_on_record() {
    let work = Work::default();
    let lines = Lines::default();
    let flow = over(2, work.clone());
    let before: Items = [10, 20, 30, 40].map(taking).to_vec();
    let mut items = before.clone();
    let mut run = flow.begin();

    assert!(
        tokio::time::timeout(Duration::from_millis(25), run.finish(&mut items))
            .await
            .is_err()
    );

    assert_eq!((&items, work.in_flight(), run.steps()), (&before, 0, 0));

    let mut journaled = flow.begin().with_journal(lines.journal());
    let cut = tokio::time::timeout(Duration::from_millis(25), journaled.finish(&mut items)).await;
    assert!(cut.is_err());
    let made = work.calls();

    assert_eq!(
        (&items, work.in_flight(), lines.all().len()),
        (&before, 0, 3)
    );
    lines.run(&flow, &mut items).await.unwrap();

    assert_eq!(work.calls() - made, 2, "two were in flight, two on record");
    assert!(
        items
            .iter()
            .all(|item| item.brought == Some(2 * item.takes))
    );

    assert_snapshot!(lines.text(), @r#"
    {"began":{"state":[8460187890770852593,8460187890770852593]}}
    {"outcome":{"step":"crawl/fetch#1[0]","outcome":20}}
    {"outcome":{"step":"crawl/fetch#1[1]","outcome":40}}
    {"outcome":{"step":"crawl/fetch#1[2]","outcome":60}}
    {"outcome":{"step":"crawl/fetch#1[3]","outcome":80}}
    {"ended":{"action":"default","steps":1}}
    "#);
}

#[tokio::test(start_paused = true)]
async fn items_tell_what_they_do_under_their_own_names() {
    let (sink, mut told) = events(100);
    let flow = over(1, Work::default().retry(three_attempts()));
    let mut items = vec![
        taking(10),
        Item {
            failures: 1,
            ..taking(20)
        },
    ];

    flow.begin()
        .with_id("r")
        .with_events(sink)
        .finish(&mut items)
        .await
        .unwrap();

    let mut lines = Vec::new();
    while let Some(event) = told.next().await {
        lines.push(format!("{:>3} {event}", event.at.as_millis()));
    }

    assert_snapshot!(lines.join("\n"), @r"
      0 r: started
      0 r: crawl/fetch#1 entered
     10 r: crawl/fetch#1[0] finished exec in 10ms
     10 r: crawl/fetch#1[0] returned 20
     30 r: crawl/fetch#1[1] failed attempt 1, next in 100.0ms: no answer to call 1
    150 r: crawl/fetch#1[1] finished exec in 140ms
    150 r: crawl/fetch#1[1] returned 40
    150 r: crawl/fetch#1 ended on `default` after 1 step in all
    ");
}

#[tokio::test]
async fn items_that_never_wait_can_be_stopped() {
    let token = cogwork_flow::CancellationToken::new();
    let calls = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&calls);
    let cancelled = token.clone();
    let node = from_phases(
        |_: &mut u64| (),
        move |()| {
            if counted.fetch_add(1, Ordering::SeqCst) == 10 {
                cancelled.cancel();
            }
            async { Ok::<_, BoxError>(()) }
        },
        |_, ()| (),
    );

    let batch = Batch::at_most(1, node, |all: &Vec<u64>| all.clone(), |_, _| ());
    let flow = Flow::builder("busy")
        .batch("all", batch)
        .chain(["all"])
        .build()
        .unwrap();

    for journaled in [false, true] {
        let run = flow.begin().with_cancellation(token.clone());
        let mut run = if journaled {
            run.with_journal(MemoryJournal::new("r"))
        } else {
            run
        };

        let error = run.finish(&mut vec![0; 10_000]).await.unwrap_err();
        assert!(error.is_cancelled());
        assert!(calls.load(Ordering::SeqCst) < 1000);
    }
}

#[tokio::test(start_paused = true)]
async fn items_and_their_outcomes_are_reported() {
    let (sink, mut told) = events(100);
    let lines = Lines::default();
    let double = from_exec(async |number: u32| Ok::<_, std::io::Error>(number * 2));
    let batch = Batch::at_most(
        1,
        double,
        |numbers: &Vec<u32>| numbers.clone(),
        |numbers: &mut Vec<u32>, doubled| {
            *numbers = doubled;
        },
    );
    let flow = Flow::builder("sums")
        .batch("double", batch.with_item_text(u32::to_string))
        .chain(["double"])
        .build()
        .unwrap();

    let mut run = flow.begin().with_journal(lines.journal()).with_events(sink);
    run.finish(&mut vec![1, 2]).await.unwrap();
    drop(run);

    let mut reports = Vec::new();
    while let Some(event) = told.next().await {
        if let EventKind::Item { .. } | EventKind::Outcome { .. } = &event.kind {
            reports.push(event.to_string());
        }
    }
    assert_snapshot!(reports.join("\n"), @r"
    r: sums/double#1[0] got the item 1
    r: sums/double#1[1] got the item 2
    r: sums/double#1[0] returned 2
    r: sums/double#1[1] returned 4
    ");
}
