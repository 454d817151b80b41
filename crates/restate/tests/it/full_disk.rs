//! A server whose disk is full.

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_flow::{Action, Flow, Wait, from_phases, idempotency_key};
use cogwork_restate::{Client, Workflow};
use futures_util::future::join_all;
use tokio::time::{sleep, timeout};

use crate::support::server::OwnServer;
use crate::support::worker::{Worker, endpoint};

const TEXT: usize = 200_000;

/// More runs than there is space for.
const RUNS: usize = 400;

/// The space for each file of the server, in KiB.
const SPACE: u32 = 8 << 10;

/// How long a step may take until the disk counts as full.
const PATIENCE: Duration = Duration::from_secs(10);

type Calls = Arc<Mutex<Vec<String>>>;

/// Returns a text that is hard to compress.
fn text() -> String {
    let hasher = RandomState::new();
    let words = (0..TEXT / 16).map(|number| format!("{:016x}", hasher.hash_one(number)));
    words.collect()
}

/// Adds a long text to the state, and waits for the event `go`.
fn flow(calls: &Calls) -> Flow<Vec<String>> {
    let calls = Arc::clone(calls);
    let write = from_phases(
        |_: &mut Vec<String>| (),
        move |()| {
            calls.lock().unwrap().extend(idempotency_key());
            async { Ok::<_, std::io::Error>(text()) }
        },
        |texts, (), text| texts.push(text),
    );

    Flow::builder("long")
        .start("write")
        .node("write", write)
        .wait(
            "wait",
            Wait::for_event("go", |_: &mut Vec<String>, _: bool| ()),
        )
        .edge("write", Action::DEFAULT, "wait")
        .end("wait", Action::DEFAULT)
        .build()
        .unwrap()
}

async fn waits(client: &Client, key: &str) -> bool {
    let progress = timeout(Duration::from_secs(2), client.progress(key)).await;
    progress.is_ok_and(|progress| {
        progress.is_ok_and(|progress| progress.is_some_and(|progress| progress.waits_for.is_some()))
    })
}

/// Starts runs one after the other, until one isn't taken or doesn't continue.
async fn fill(client: &Client) -> Vec<String> {
    let empty = Vec::<String>::new();
    let mut started = Vec::new();

    for number in 0..RUNS {
        let key = format!("run-{number}");
        let start = timeout(PATIENCE, client.start(&key, &empty)).await;
        if !matches!(start, Ok(Ok(_))) {
            break;
        }

        started.push(key.clone());
        let until_it_waits = async {
            while !waits(client, &key).await {
                sleep(Duration::from_millis(20)).await;
            }
        };
        if timeout(PATIENCE, until_it_waits).await.is_err() {
            break;
        }
    }

    started
}

async fn finish(client: &Client, key: &str) {
    client.deliver(key, "go", &true).await.unwrap();
    let texts = client.attach::<Vec<String>>(key).await.unwrap();
    assert_eq!(texts.len(), 1, "{key}");
    assert_eq!(texts[0].len(), TEXT, "{key}");
}

#[tokio::test]
async fn a_full_disk_of_the_server_loses_no_run_and_repeats_no_recorded_call() {
    let Some(mut own) = OwnServer::start_with_space(SPACE).await else {
        return;
    };
    let calls = Calls::default();
    let worker = Worker::start(endpoint(Workflow::new("Long", flow(&calls)).unwrap()));
    own.server.register(worker.port).await;
    let client = own.server.client("Long");

    let started = fill(&client).await;
    assert!(!started.is_empty());
    assert!(started.len() < RUNS, "the disk was never full");
    let waiting = join_all(started.iter().map(|key| waits(&client, key))).await;

    // There is space again.
    own.kill();
    own.start_again().await;
    join_all(started.iter().map(|key| finish(&client, key))).await;

    let calls = calls.lock().unwrap();
    let waiting = started.iter().zip(waiting).filter(|(_, waits)| *waits);
    for (key, _) in waiting {
        let of_run = calls
            .iter()
            .filter(|call| call.starts_with(&format!("{key}:")));
        assert_eq!(of_run.count(), 1, "{key}");
    }
}
