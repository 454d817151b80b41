//! The ends of runs: cancelled, failed, at a limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cogwork_flow::engine::recorded;
use cogwork_flow::{Action, Backoff, Batch, BoxError, Flow, Node, from_exec, from_fn, from_phases};
use cogwork_restate::Workflow;
use cogwork_restate::restate_sdk::endpoint::Endpoint;

use crate::support::server::server;
use crate::support::worker::{Worker, bind, endpoint};
use crate::support::{unique, until};

type Counted = Arc<AtomicUsize>;

/// Two steps, of which the first takes this long.
fn slow(time: Duration, calls: &Counted) -> Flow<u32> {
    let step = |time: Duration| {
        let calls = Arc::clone(calls);
        from_phases(
            |_: &mut u32| (),
            move |()| {
                calls.fetch_add(1, Ordering::Relaxed);
                async move {
                    tokio::time::sleep(time).await;
                    Ok::<_, std::io::Error>(())
                }
            },
            |count, ()| *count += 1,
        )
    };

    Flow::builder("slow")
        .start("long")
        .node("long", step(time))
        .node("short", step(Duration::ZERO))
        .edge("long", Action::DEFAULT, "short")
        .end("short", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_run_that_is_cancelled_during_a_step_ends_after_it_and_stays_cancelled() {
    let Some(server) = server() else { return };
    let name = unique("Slow");
    let calls = Counted::default();
    let workflow = || {
        let flow = slow(Duration::from_secs(2), &calls);
        Workflow::new(name.as_str(), flow).unwrap()
    };
    let worker = Worker::start(endpoint(workflow()));
    server.register(worker.port).await;
    let client = server.client(&name);

    assert!(!client.cancel("a").await.unwrap());
    let began = Instant::now();
    client.start("a", &0).await.unwrap();
    until("the step runs", || async {
        calls.load(Ordering::Relaxed) == 1
    })
    .await;
    assert!(client.cancel("a").await.unwrap());

    let error = client.attach::<u32>("a").await.unwrap_err();
    assert!(error.is_cancelled(), "{error}");
    insta::assert_snapshot!(error, @"the run was cancelled at the node `long` (status 409)");
    assert!(began.elapsed() >= Duration::from_secs(2));

    // It stays cancelled, also for a new worker and a new start.
    let port = worker.port;
    worker.kill();
    let _worker = Worker::start_at(port, endpoint(workflow()));
    assert!(!client.cancel("a").await.unwrap());
    assert!(client.start("a", &0).await.unwrap().already);
    assert!(client.attach::<u32>("a").await.unwrap_err().is_cancelled());
    assert_eq!(calls.load(Ordering::Relaxed), 1);

    let progress = client.progress("a").await.unwrap().unwrap();
    insta::assert_debug_snapshot!(progress.failed, @r#"
    Some(
        "the run was cancelled at the node `long`",
    )
    "#);
}

#[tokio::test]
async fn a_cancelled_run_begins_no_other_item() {
    let Some(server) = server() else { return };
    let name = unique("Items");
    let calls = Counted::default();
    let called = Arc::clone(&calls);
    let item = from_exec(move |n: u64| {
        called.fetch_add(1, Ordering::Relaxed);
        async move {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok::<_, std::io::Error>(n)
        }
    });
    let batch = Batch::at_most(2, item, Vec::clone, |all: &mut Vec<u64>, items| {
        *all = items
    });
    let flow = Flow::builder("items")
        .start("work")
        .batch("work", batch)
        .end("work", Action::DEFAULT)
        .build()
        .unwrap();

    let worker = Worker::start(endpoint(Workflow::new(name.as_str(), flow).unwrap()));
    server.register(worker.port).await;
    let client = server.client(&name);
    client
        .start("a", &(0..10u64).collect::<Vec<_>>())
        .await
        .unwrap();
    until("an item is begun", || async {
        calls.load(Ordering::Relaxed) == 1
    })
    .await;
    assert!(client.cancel("a").await.unwrap());

    assert!(
        client
            .attach::<Vec<u64>>("a")
            .await
            .unwrap_err()
            .is_cancelled()
    );
    let query = format!(
        "select id from sys_invocation where target_service_name like '{name}%' and status != 'completed'"
    );
    until("nothing runs", || async {
        server.query(&query).await.is_empty()
    })
    .await;
    assert_eq!(
        calls.load(Ordering::Relaxed),
        1,
        "no item is begun after that"
    );
}

#[tokio::test]
async fn a_deadline_ends_a_run_during_a_step() {
    let Some(server) = server() else { return };
    let name = unique("Slow");
    let flow = slow(Duration::from_secs(600), &Counted::default());
    let workflow = Workflow::new(name.as_str(), flow)
        .unwrap()
        .with_deadline(Duration::from_secs(1));
    let worker = Worker::start(endpoint(workflow));
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &0).await.unwrap();
    let error = client.attach::<u32>("a").await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `slow`, node `long`: the run reached its deadline at this node (status 408)");
}

#[tokio::test]
async fn a_run_ends_at_its_maximum_number_of_steps() {
    let Some(server) = server() else { return };
    let name = unique("Endless");
    let count = from_fn(|count: &mut u32| {
        *count += 1;
        Action::from_static(if *count == 0 { "never" } else { "again" })
    });
    let flow = Flow::builder("endless")
        .start("count")
        .node("count", count.with_actions(["again", "never"]))
        .edge("count", "again", "count")
        .end("count", "never")
        .build()
        .unwrap();
    let workflow = Workflow::new(name.as_str(), flow)
        .unwrap()
        .with_max_steps(5);
    let worker = Worker::start(endpoint(workflow));
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &0).await.unwrap();
    let error = client.attach::<u32>("a").await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `endless`, node `count`: the run reached its limit of 5 steps before this node (status 500)");
    assert_eq!(client.progress("a").await.unwrap().unwrap().steps, 5);
}

#[tokio::test]
async fn a_panic_ends_the_run() {
    let Some(server) = server() else { return };
    let panics = || {
        from_phases(
            |n: &mut u64| *n,
            |n| async move {
                assert_ne!(n, 13, "13 is unlucky");
                Ok::<_, std::io::Error>(n)
            },
            |_, _| (),
        )
    };
    let batch = Batch::at_most(2, panics(), Vec::clone, |all: &mut Vec<u64>, items| {
        *all = items;
    });
    let items = Flow::builder("items")
        .start("work")
        .batch("work", batch)
        .end("work", Action::DEFAULT)
        .build()
        .unwrap();
    let step = Flow::builder("step")
        .start("work")
        .node("work", panics())
        .end("work", Action::DEFAULT)
        .build()
        .unwrap();

    let names = [unique("Items"), unique("Step")];
    let builder = Endpoint::builder();
    let builder = bind(builder, Workflow::new(names[0].as_str(), items).unwrap());
    let builder = bind(builder, Workflow::new(names[1].as_str(), step).unwrap());
    let worker = Worker::start(builder.build());
    server.register(worker.port).await;

    let client = server.client(&names[0]);
    client.start("a", &[3, 13]).await.unwrap();
    let error = client.attach::<Vec<u64>>("a").await.unwrap_err();
    let error = error.to_string();
    assert!(
        error.starts_with("flow `items`, node `work`: it panicked: "),
        "{error}"
    );
    assert!(error.contains("13 is unlucky"), "{error}");

    let client = server.client(&names[1]);
    client.start("a", &13).await.unwrap();
    let error = client.attach::<u64>("a").await.unwrap_err().to_string();
    assert!(
        error.starts_with("flow `step`, node `work`: it panicked: "),
        "{error}"
    );
    assert!(error.contains("13 is unlucky"), "{error}");
}

/// Its first attempt makes a call that never ends, which a timeout drops.
struct Stuck(Counted);

impl Node<u32> for Stuck {
    type Prep = ();
    type Exec = u32;
    type Error = BoxError;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, _: &mut u32) -> Result<(), BoxError> {
        Ok(())
    }

    async fn exec(&self, (): &()) -> Result<u32, BoxError> {
        let outcome = recorded("call", || async {
            if self.0.fetch_add(1, Ordering::Relaxed) == 0 {
                std::future::pending::<()>().await;
            }
            Ok::<_, BoxError>(7)
        });
        Ok(outcome.await?)
    }

    fn post(&self, n: &mut u32, (): (), seven: u32) -> Result<Action, BoxError> {
        *n = seven;
        Ok(Action::DEFAULT)
    }
}

#[tokio::test]
async fn a_call_that_a_timeout_drops_is_followed_by_others() {
    let Some(server) = server() else { return };
    let name = unique("Stuck");
    let calls = Counted::default();
    let limit = Duration::from_millis(300);
    let flow = Flow::builder("stuck")
        .node(
            "stuck",
            Stuck(Arc::clone(&calls))
                .timeout(limit)
                .retry(Backoff::default()),
        )
        .sleep("nap", |_: &u32| Duration::from_millis(50))
        .chain(["stuck", "nap"])
        .build()
        .unwrap();
    let worker = Worker::start(endpoint(Workflow::new(name.as_str(), flow).unwrap()));
    server.register(worker.port).await;
    let client = server.client(&name);

    client.start("a", &0).await.unwrap();
    assert_eq!(client.attach::<u32>("a").await.unwrap(), 7);
}
