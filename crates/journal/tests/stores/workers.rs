//! Workers that take runs from queues.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::{Action, Backoff, Flow, from_fn, from_phases};
use cogwork_journal::{PostgresStore, QueuedRun, RunQuery, RunStatus, StoreErrorKind, Worker};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::each::Tested;
use crate::server::{tamper, with_server};
use crate::work::{Call, Calls, Work, counted, flow, greeting, undisturbed};

/// A worker in the background.
struct Started {
    stop: oneshot::Sender<()>,
    worker: JoinHandle<()>,
}

impl Started {
    fn new(worker: Worker) -> Self {
        let (stop, stopped) = oneshot::channel::<()>();
        let shutdown = async { drop(stopped.await) };
        Self {
            stop,
            worker: tokio::spawn(worker.run(shutdown)),
        }
    }

    async fn stop(self) {
        let _ = self.stop.send(());
        self.worker.await.unwrap();
    }
}

/// Retries without noticeable delays.
fn at_once() -> Backoff {
    Backoff::of::<3>().with_first(Duration::from_millis(5))
}

fn store(folder: &tempfile::TempDir) -> PostgresStore {
    PostgresStore::within(folder.path()).with_retries(at_once())
}

fn worker(store: &PostgresStore) -> Worker {
    Worker::new(store.clone()).with_poll_interval(Duration::from_millis(20))
}

async fn enqueue(store: &PostgresStore, run_id: &str, flow: &Flow<Work>, rounds: usize) {
    let work = Work::of(rounds);
    store.enqueue(run_id, flow, &work).await.unwrap();
}

async fn queued(store: &PostgresStore) -> Vec<QueuedRun> {
    store.queued(RunQuery::new().limit(1_000)).await.unwrap()
}

/// Waits until all runs match.
async fn until(store: &PostgresStore, matches: impl Fn(&QueuedRun) -> bool) {
    while !queued(store).await.iter().all(&matches) {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

fn has_ended(run: &QueuedRun) -> bool {
    matches!(run.run.status, RunStatus::Ended { .. }) && run.worker.is_none()
}

fn is_paused(run: &QueuedRun) -> bool {
    matches!(run.run.status, RunStatus::Paused { .. }) && run.worker.is_none()
}

#[test]
fn workers_share_runs_and_execute_each_once() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let calls = Calls::default();
        let flow = Arc::new(flow(&counted(&calls)));

        for number in 0..20 {
            let run_id = format!("run {number}");
            enqueue(&store, &run_id, &flow, 2).await;
        }

        let workers: Vec<_> = (0..3)
            .map(|_| {
                let store = PostgresStore::within(folder.path());
                Started::new(
                    worker(&store)
                        .with_flow(Arc::clone(&flow))
                        .with_concurrency(2),
                )
            })
            .collect();
        until(&store, has_ended).await;
        for worker in workers {
            worker.stop().await;
        }

        let mut calls = calls.lock().unwrap().clone();
        let made = calls.len();
        calls.sort();
        calls.dedup();
        assert_eq!(made, 20 * 6);
        assert_eq!(calls.len(), made);
    });
}

#[test]
fn a_worker_finds_new_runs_and_answered_ones() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let flow = Arc::new(greeting());
        let worker = Started::new(worker(&store).with_flow(Arc::clone(&flow)));

        let enqueued = store.enqueue("a", &flow, &"Hello, ");
        enqueued.await.unwrap();
        until(&store, is_paused).await;

        PostgresStore::within(folder.path())
            .deliver("a", "name", &"Ada")
            .await
            .unwrap();
        until(&store, has_ended).await;
        worker.stop().await;
    });
}

#[test]
fn an_answer_that_arrives_while_the_run_is_executed_is_not_lost() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let flow = Arc::new(greeting());
        let worker = Started::new(worker(&store).with_flow(Arc::clone(&flow)));

        for number in 0..30 {
            let run_id = format!("run {number}");
            let enqueued = store.enqueue(&run_id, &flow, &"Hello, ");
            enqueued.await.unwrap();
            store.deliver(&run_id, "name", &"Ada").await.unwrap();
        }

        until(&store, has_ended).await;
        worker.stop().await;
    });
}

#[test]
fn a_wait_that_times_out_is_continued() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let wait = cogwork_flow::Wait::for_event("word", |_: &mut u32, (): ()| ());
        let flow = Flow::builder("ask")
            .start("ask")
            .wait("ask", wait.with_timeout(Duration::from_millis(300)))
            .end("ask", Action::DEFAULT)
            .end("ask", cogwork_flow::Action::TIMED_OUT)
            .build()
            .unwrap();

        let flow = Arc::new(flow);
        store.enqueue("a", &flow, &0).await.unwrap();
        let worker = Started::new(worker(&store).with_flow(flow));
        until(&store, has_ended).await;
        worker.stop().await;
    });
}

#[test]
fn runs_are_taken_in_their_order() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let order = Arc::new(Mutex::new(String::new()));
        let taken = Arc::clone(&order);
        let take = from_fn(move |run_id: &mut String| taken.lock().unwrap().push_str(run_id));
        let flow = Arc::new(Flow::from_node("take", take).unwrap());
        for run_id in ["c", "a", "b"] {
            store.enqueue(run_id, &flow, &run_id).await.unwrap();
        }

        let worker = Started::new(worker(&store).with_flow(flow).with_concurrency(1));
        until(&store, has_ended).await;
        worker.stop().await;
        assert_eq!(*order.lock().unwrap(), "cab");
    });
}

/// Fails until it was called as often as this.
fn failing(calls: &Arc<AtomicUsize>, until: usize) -> Flow<u64> {
    let calls = Arc::clone(calls);
    let node = from_phases(
        |n: &mut u64| *n,
        move |n| {
            let call = calls.fetch_add(1, Ordering::Relaxed) + 1;
            async move {
                if call < until {
                    return Err(format!("call {call} failed"));
                }
                Ok(n + 1)
            }
        },
        |n, m| *n = m,
    );
    let flow = Flow::builder("failing").start("call").node("call", node);
    flow.end("call", Action::DEFAULT).build().unwrap()
}

#[test]
fn a_run_that_fails_is_tried_again_and_set_aside_and_can_be_put_back() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let calls = Arc::default();
        let flow = Arc::new(failing(&calls, 5));
        store.enqueue("a", &flow, &0).await.unwrap();
        let worker = Started::new(worker(&store).with_flow(flow));

        until(&store, |run| run.is_set_aside).await;
        let run = queued(&store).await.remove(0);
        assert_eq!(run.failures, 3);
        assert_eq!(calls.load(Ordering::Relaxed), 3);
        insta::assert_snapshot!(run.failure.unwrap(), @"flow `failing`, node `call`: exec failed: call 3 failed");
        assert!(run.is_set_aside);

        store.put_back("a").await.unwrap();
        until(&store, has_ended).await;
        assert_eq!(calls.load(Ordering::Relaxed), 5);
        assert_eq!(
            store.put_back("a").await.unwrap_err().kind(),
            StoreErrorKind::Ended
        );
        assert_eq!(
            store.put_back("b").await.unwrap_err().kind(),
            StoreErrorKind::Missing
        );
        worker.stop().await;
    });
}

#[test]
fn a_run_whose_workers_die_is_set_aside() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let flow = Arc::new(flow(&counted(&Calls::default())));
        enqueue(&store, "a", &flow, 2).await;
        let poll = Duration::from_millis(5);
        let other = Flow::builder("other").start("one");
        let other = other.node("one", cogwork_flow::from_fn(|_: &mut u64| ()));
        let other = Arc::new(other.end("one", Action::DEFAULT).build().unwrap());

        // As if three workers had taken it and died at once.
        let waking = Worker::new(store.clone()).with_poll_interval(poll);
        let waking = Started::new(waking.with_flow(other));
        for deaths in 1..=3 {
            tamper(
                &store,
                "UPDATE runs SET ready = false, worker = 'first', fence = fence + 1, wake = now()",
            );
            until(&store, |run| run.worker.is_none() && run.failures == deaths).await;
        }

        let run = queued(&store).await.remove(0);
        assert!(run.is_set_aside);
        insta::assert_snapshot!(run.failure.unwrap(), @"the lease of first expired, so it died or lost the database");
        waking.stop().await;

        store.put_back("a").await.unwrap();
        let worker = Started::new(worker(&store).with_flow(flow));
        until(&store, has_ended).await;
        worker.stop().await;
    });
}

#[test]
fn a_changed_flow_is_left_for_a_worker_that_has_it() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let calls = Calls::default();
        let old = Arc::new(flow(&counted(&calls)));
        let new = Arc::new(crate::work::changed(&counted(&calls), "twice"));
        enqueue(&store, "a", &old, 2).await;
        enqueue(&store, "b", &new, 2).await;

        let first = Started::new(worker(&store).with_flow(new));
        until(&store, |run| has_ended(run) || run.run.run_id == "a").await;
        first.stop().await;
        assert_eq!(store.query(RunQuery::new().ended()).await.unwrap().len(), 1);

        let second = Started::new(worker(&store).with_flow(old));
        until(&store, has_ended).await;
        second.stop().await;
    });
}

#[test]
fn a_shutdown_gives_back_runs_that_take_too_long() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder);
        let calls = Calls::default();
        let forever: Call = Arc::new(|_| Box::pin(std::future::pending()));
        let stuck = Arc::new(flow(&forever));
        enqueue(&store, "a", &stuck, 2).await;

        let grace = Duration::from_millis(10);
        let first = Started::new(worker(&store).with_flow(stuck).with_grace(grace));
        until(&store, |run| run.worker.is_some()).await;
        first.stop().await;
        let run = queued(&store).await.remove(0);
        assert_eq!((run.worker, run.failures), (None, 0));

        let flow = Arc::new(flow(&counted(&calls)));
        let second = Started::new(worker(&store).with_flow(Arc::clone(&flow)));
        until(&store, has_ended).await;
        second.stop().await;

        let journal = store.resume("a", &flow).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(2).await);
    });
}

#[test]
fn a_run_is_cancelled_while_a_worker_executes_it() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = store(&folder).with_lease(Duration::from_millis(600));
        let works = Arc::new(());
        let executed = Arc::downgrade(&works);
        let forever: Call = Arc::new(move |_| {
            let works = executed.upgrade();
            Box::pin(async move {
                let _works = works;
                std::future::pending().await
            })
        });
        let stuck = Arc::new(flow(&forever));
        enqueue(&store, "a", &stuck, 2).await;
        let first = Started::new(worker(&store).with_flow(stuck));
        while Arc::strong_count(&works) < 2 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }

        store.cancel("a", "nobody wants it").await.unwrap();
        let run = queued(&store).await.remove(0);
        assert_eq!(run.run.status.to_string(), "failed: nobody wants it");
        assert!(run.is_set_aside, "{run:?}");
        while Arc::strong_count(&works) > 1 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        first.stop().await;

        store.put_back("a").await.unwrap();
        let calls = Calls::default();
        let second = worker(&store).with_flow(flow(&counted(&calls)));
        let second = Started::new(second);
        until(&store, has_ended).await;
        second.stop().await;
        let refused = store.cancel("a", "too late").await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::Ended);
    });
}
