//! The number of runs per second that workers claim and execute.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, print, texts};
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::{PostgresStore, Worker, WorkerEvent};
use tokio::task::JoinSet;

use crate::{SCHEMA, Server, rounds, statements};

const ROUNDS: u32 = 5;
const WORKERS: usize = 4;

pub(crate) async fn measure(server: &Server) -> Result<(), BoxError> {
    let store = PostgresStore::new(&server.url)?.with_max_connections(8);
    let mut single = Vec::new();
    let mut taken = Vec::new();
    let mut one_by_one = Vec::new();
    let mut executed = Vec::new();

    for round in 0..rounds(ROUNDS) {
        // Each has tables of its own, so that no worker takes the runs of others.
        let store = |name: &str| {
            store
                .clone()
                .with_schema(format!("{SCHEMA}_{name}_{round}"))
        };
        single.push(claims(server, &store("single"), 1_000).await?);
        taken.push(takes(&store("stuck"), 1_000).await?);
        one_by_one.push(executes(&store("one_by_one"), 1, 300).await?);
        executed.push(executes(&store("many"), 20, 500).await?);
    }

    show("claims of one run each, on 4 connections", single);
    show("runs taken and opened by 4 workers, many at once", taken);
    show(
        "runs of one step, executed one by one by 4 workers",
        one_by_one,
    );
    show(
        "runs of one step, executed 20 at once by 4 workers",
        executed,
    );
    Ok(())
}

fn show(what: &str, mut rates: Vec<f64>) {
    rates.sort_by(f64::total_cmp);
    let rate = |index: usize| rates.get(index).copied().unwrap_or(f64::NAN);
    let last = rates.len().saturating_sub(1);
    print(
        what,
        format_args!(
            "{:.0}/s ({:.0} to {:.0})",
            rate(rates.len() / 2),
            rate(0),
            rate(last)
        ),
    );
}

async fn enqueue(store: &PostgresStore, flow: &Flow<u32>, runs: usize) -> Result<(), BoxError> {
    for number in 0..runs {
        store.enqueue(&format!("run {number}"), flow, &1).await?;
    }
    Ok(())
}

/// Executes the statement with which workers take runs, for one run each. Returns how many runs are
/// taken per second.
async fn claims(server: &Server, store: &PostgresStore, runs: usize) -> Result<f64, BoxError> {
    enqueue(store, &texts(8)?, runs).await?;

    let client = server.connect().await?;
    let schema = store.schema();
    let shape = format!("SELECT shape FROM {schema}.runs LIMIT 1");
    let shape: i64 = client.query_one(&shape, &[]).await?.get(0);
    let sql = statements::CLAIM.replace("@.", &format!("{schema}."));

    let mut claiming = JoinSet::new();
    for _ in 0..WORKERS {
        let client = server.connect().await?;
        let claim = client.prepare(&sql).await?;
        claiming.spawn(async move {
            let started = Instant::now();
            let mut taken = 0;
            let flows = ["texts"].as_slice();
            let shapes = [shape].as_slice().to_vec();
            while !client
                .query(&claim, &[&"bench", &300.0, &flows, &shapes, &1_i64])
                .await?
                .is_empty()
            {
                taken += 1;
            }
            Ok::<_, tokio_postgres::Error>((taken, started.elapsed()))
        });
    }

    let mut taken: usize = 0;
    let mut took = Duration::ZERO;
    while let Some(claimed) = claiming.join_next().await {
        let (runs, time) = claimed??;
        taken += runs;
        took = took.max(time);
    }

    if taken != runs {
        return Err(format!("{taken} of {runs} runs were taken").into());
    }
    Ok(runs as f64 / took.as_secs_f64())
}

/// Starts workers, and waits until they have reported this many events. Returns how many per second.
async fn work(workers: Vec<Worker>, runs: usize, counts: fn(&WorkerEvent<'_>) -> bool) -> f64 {
    let counted = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut working = JoinSet::new();
    for worker in workers {
        let counted = Arc::clone(&counted);
        let worker = worker.with_report(move |event| {
            counted.fetch_add(usize::from(counts(&event)), Ordering::Relaxed);
        });
        working.spawn(worker.run(std::future::pending()));
    }

    while counted.load(Ordering::Relaxed) < runs {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    runs as f64 / started.elapsed().as_secs_f64()
}

/// Lets several workers take runs that never end.
async fn takes(store: &PostgresStore, runs: usize) -> Result<f64, BoxError> {
    let node = from_phases(
        |_: &mut u32| (),
        |()| std::future::pending::<io::Result<()>>(),
        |_: &mut u32, ()| Action::DEFAULT,
    );
    let flow = Flow::builder("stuck").start("stuck").node("stuck", node);
    let flow = Arc::new(flow.end("stuck", Action::DEFAULT).build()?);
    enqueue(store, &flow, runs).await?;

    let workers = (0..WORKERS).map(|_| {
        Worker::new(store.clone())
            .with_flow(Arc::clone(&flow))
            .with_concurrency(runs)
    });
    let is_taken = |event: &WorkerEvent<'_>| matches!(event, WorkerEvent::Taken { .. });
    Ok(work(workers.collect(), runs, is_taken).await)
}

/// Executes runs of one step with several workers.
async fn executes(store: &PostgresStore, concurrency: usize, runs: usize) -> Result<f64, BoxError> {
    let flow = Arc::new(texts(8)?);
    enqueue(store, &flow, runs).await?;

    let workers = (0..WORKERS).map(|_| {
        Worker::new(store.clone())
            .with_flow(Arc::clone(&flow))
            .with_concurrency(concurrency)
    });
    let has_ended = |event: &WorkerEvent<'_>| matches!(event, WorkerEvent::Ended { .. });
    Ok(work(workers.collect(), runs, has_ended).await)
}
