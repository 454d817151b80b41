//! Attempts that go on in a worker that Restate has given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_flow::{Action, Flow, from_phases};
use cogwork_restate::Workflow;
use tokio::sync::Semaphore;

use crate::support::proxy::Proxy;
use crate::support::server::server;
use crate::support::worker::{Worker, endpoint};
use crate::support::{unique, until};

/// A call that takes until the test lets one through.
#[derive(Clone)]
struct Call {
    begun: Arc<AtomicUsize>,
    done: Arc<AtomicUsize>,
    dropped: Arc<AtomicUsize>,
    permits: Arc<Semaphore>,
}

/// Counts a call that was dropped before it was done.
struct Unfinished<'a>(&'a AtomicUsize);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

impl Call {
    fn new() -> Self {
        Self {
            begun: Arc::default(),
            done: Arc::default(),
            dropped: Arc::default(),
            permits: Arc::new(Semaphore::new(0)),
        }
    }

    async fn make(self, n: u64) -> Result<u64, std::io::Error> {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let unfinished = Unfinished(&self.dropped);
        if let Ok(permit) = self.permits.acquire().await {
            permit.forget();
        }

        std::mem::forget(unfinished);
        self.done.fetch_add(1, Ordering::SeqCst);
        Ok(2 * n)
    }

    fn begun(&self) -> usize {
        self.begun.load(Ordering::SeqCst)
    }

    fn done(&self) -> usize {
        self.done.load(Ordering::SeqCst)
    }

    fn dropped(&self) -> usize {
        self.dropped.load(Ordering::SeqCst)
    }
}

fn flow(call: &Call) -> Flow<u64> {
    let call = call.clone();
    let double = from_phases(
        |n: &mut u64| *n,
        move |n| call.clone().make(n),
        |n, doubled| *n = doubled,
    );

    Flow::builder("partition")
        .start("double")
        .node("double", double)
        .end("double", Action::DEFAULT)
        .build()
        .unwrap()
}

fn workflow(name: &str, call: &Call) -> Workflow<u64> {
    Workflow::new(name, flow(call)).unwrap()
}

#[tokio::test]
async fn an_attempt_is_dropped_when_its_network_is_cut_unnoticed() {
    let Some(server) = server() else { return };
    let name = unique("Partition");
    let call = Call::new();
    let worker = Worker::start(endpoint(workflow(&name, &call)));
    let proxy = Proxy::to(worker.port).await;
    server.register(proxy.port).await;
    let client = server.client(&name);

    client.start("a", &21).await.unwrap();
    until("the call was begun", || async { call.begun() == 1 }).await;
    proxy.cut_unnoticed().await;
    until("the call was dropped", || async { call.dropped() == 1 }).await;

    call.permits.add_permits(2);
    assert_eq!(client.attach::<u64>("a").await.unwrap(), 42);
    assert_eq!(call.done(), 1);
}
