//! Runs in PostgreSQL: what recording a step costs, compared with a bare insert in the same server, and how
//! many runs per second workers take. Needs a server: `eval "$(scripts/local-postgres start)"`.

use std::env;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, print};
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::{Enqueue, PostgresStore, RunQuery, Store, Worker, WorkerEvent};
use tokio::task::JoinSet;
use tokio_postgres::{Client, NoTls};

const STEPS: u32 = 100;
const ROUNDS: usize = 15;

/// A loop whose `exec` returns a text of this length.
fn texts(bytes: usize) -> Result<Flow<u32>, BoxError> {
    let text: Arc<str> = "thought ".repeat(bytes / 8).into();
    let node = from_phases(
        |_: &mut u32| (),
        move |()| {
            let text = Arc::clone(&text);
            async move { Ok::<_, io::Error>(text) }
        },
        |left, _, _| {
            *left -= 1;
            Action::from_static(if *left == 0 { "stop" } else { "again" })
        },
    );

    let flow = Flow::builder("texts")
        .start("text")
        .node("text", node.with_actions(["again", "stop"]));
    Ok(flow
        .edge("text", "again", "text")
        .end("text", "stop")
        .build()?)
}

async fn connect(url: &str) -> Result<Client, BoxError> {
    let (client, connection) = tokio_postgres::connect(url, NoTls).await?;
    tokio::spawn(connection);
    Ok(client)
}

/// Inserts as many rows as a run has steps, each in a transaction of its own.
async fn inserts(client: &Client, bytes: usize) -> Result<Duration, BoxError> {
    let sql = "INSERT INTO bench.bare (run, number, line) VALUES ($1, $2, $3)";
    let insert = client.prepare(sql).await?;
    let line = "thought ".repeat(bytes / 8);
    client.batch_execute("TRUNCATE bench.bare").await?;

    let started = Instant::now();
    for number in 0..i64::from(STEPS) {
        client.execute(&insert, &[&1_i64, &number, &line]).await?;
    }
    Ok(started.elapsed())
}

async fn steps(
    store: &PostgresStore,
    flow: &Flow<u32>,
    run_id: &str,
) -> Result<Duration, BoxError> {
    // The last step is recorded together with the end of the run, and isn't counted.
    let journal = store.start(run_id, flow, &(STEPS + 1)).await?;
    let mut left: u32 = journal.state()?;
    let mut run = flow.begin().with_journal(journal);

    let started = Instant::now();
    for _ in 0..STEPS {
        run.step(&mut left).await?;
    }
    Ok(started.elapsed())
}

/// Alternates between both, so that they are measured under the same load.
async fn compare(url: &str, store: &PostgresStore, bytes: usize) -> Result<(), BoxError> {
    let client = connect(url).await?;
    let flow = texts(bytes)?;
    let mut bare = Vec::new();
    let mut recorded = Vec::new();
    let mut ratios = Vec::new();

    for round in 0..ROUNDS {
        let insert = inserts(&client, bytes).await?;
        let step = steps(store, &flow, &format!("{bytes} {round}")).await?;
        ratios.push(step.as_secs_f64() / insert.as_secs_f64());
        bare.push(insert / STEPS);
        recorded.push(step / STEPS);
    }

    ratios.sort_by(f64::total_cmp);
    bare.sort();
    recorded.sort();
    let middle = ROUNDS / 2;
    let medians = (ratios.get(middle), recorded.get(middle), bare.get(middle));
    let (Some(ratio), Some(recorded), Some(bare)) = medians else {
        return Err("nothing was measured".into());
    };
    print(
        &format!("{bytes} bytes: a recorded step / a bare insert"),
        format_args!("{ratio:.2} (medians: {recorded:.2?}, {bare:.2?})"),
    );
    Ok(())
}

/// Lets several workers take runs that never end. Returns how many runs they take per second.
async fn takes(store: &PostgresStore, workers: usize, runs: usize) -> Result<f64, BoxError> {
    let node = from_phases(
        |_: &mut u32| (),
        |()| std::future::pending::<io::Result<()>>(),
        |_, _, ()| Action::DEFAULT,
    );
    let flow = Flow::builder("stuck").start("stuck").node("stuck", node);
    let flow = Arc::new(flow.end("stuck", Action::DEFAULT).build()?);
    for number in 0..runs {
        store
            .enqueue(&format!("stuck {number}"), &flow, &1, Enqueue::new())
            .await?;
    }

    let taken = Arc::new(AtomicUsize::new(0));
    let started = Instant::now();
    let mut working = JoinSet::new();
    for _ in 0..workers {
        let counted = Arc::clone(&taken);
        let worker = Worker::new(store.clone())
            .with_flow(Arc::clone(&flow))
            .with_concurrency(runs)
            .with_report(move |event| {
                if let WorkerEvent::Taken { .. } = event {
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
        working.spawn(worker.run(std::future::pending()));
    }

    while taken.load(Ordering::Relaxed) < runs {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    Ok(runs as f64 / started.elapsed().as_secs_f64())
}

/// Executes runs of one step with several workers. Returns how many runs end per second.
async fn claims(store: &PostgresStore, workers: usize, runs: usize) -> Result<f64, BoxError> {
    let flow = Arc::new(texts(8)?);
    for number in 0..runs {
        let run_id = format!("{workers} workers, run {number}");
        store.enqueue(&run_id, &flow, &1, Enqueue::new()).await?;
    }

    let before = store
        .query(RunQuery::new().ended().limit(u32::MAX))
        .await?
        .len();
    let started = Instant::now();
    let mut working = Vec::new();
    for _ in 0..workers {
        let worker = Worker::new(store.clone()).with_flow(Arc::clone(&flow));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let shutdown = async { drop(stopped.await) };
        working.push((
            stop,
            tokio::spawn(worker.with_concurrency(20).run(shutdown)),
        ));
    }

    while store
        .query(RunQuery::new().ended().limit(u32::MAX))
        .await?
        .len()
        < before + runs
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let took = started.elapsed();

    for (stop, worker) in working {
        let _ = stop.send(());
        worker.await?;
    }
    Ok(runs as f64 / took.as_secs_f64())
}

async fn measure(url: &str) -> Result<(), BoxError> {
    let client = connect(url).await?;
    client
        .batch_execute(
            "DROP SCHEMA IF EXISTS bench CASCADE; CREATE SCHEMA bench;
             CREATE TABLE bench.bare (run bigint, number bigint, line text, PRIMARY KEY (run, number))",
        )
        .await?;
    let store = PostgresStore::new(url)?
        .with_schema("bench")
        .with_max_connections(8);

    for bytes in [512, 2_048, 10_240] {
        compare(url, &store, bytes).await?;
    }

    let taken = takes(&store, 4, 2_000).await?;
    print(
        "runs taken and opened by 4 workers",
        format_args!("{taken:.0}/s"),
    );
    let ended = claims(&store, 4, 500).await?;
    print(
        "runs of one step, taken, executed and ended by 4 workers",
        format_args!("{ended:.0}/s"),
    );

    client.batch_execute("DROP SCHEMA bench CASCADE").await?;
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let Ok(url) = env::var("COGWORK_TEST_POSTGRES") else {
        println!(
            "skipped: COGWORK_TEST_POSTGRES isn't set; run: eval \"$(scripts/local-postgres start)\""
        );
        return Ok(());
    };

    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    runtime.block_on(measure(&url))
}
