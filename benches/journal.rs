//! What a journal adds to a step, beside a plain append to a file; how fast a run is read back; and many
//! runs at once.

use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_benches::{BoxError, criterion, print, ratio, runtime};
use cogwork_flow::journal::{Journal, MemoryJournal};
use cogwork_flow::{Action, Flow, from_phases};
use cogwork_journal::{FileStore, SqliteStore, Store};
use criterion::{BenchmarkId, Throughput};
use tempfile::{TempDir, tempdir};
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const KIB: usize = 1_024;
const STEPS: u32 = 100;

/// A loop whose `exec` brings a text of so many bytes, which is not kept.
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

async fn finish(
    flow: &Flow<u32>,
    journal: impl Journal + 'static,
    steps: u32,
) -> Result<(), BoxError> {
    let ended = flow
        .begin()
        .with_max_steps(steps.into())
        .with_journal(journal)
        .finish(&mut { steps })
        .await?;
    if ended.steps == u64::from(steps) {
        Ok(())
    } else {
        Err("the run was short".into())
    }
}

/// A store in a folder of its own.
type Make<S> = fn(&TempDir) -> S;

fn files(folder: &TempDir) -> FileStore {
    FileStore::new(folder.path())
}

fn files_unsynced(folder: &TempDir) -> FileStore {
    files(folder).with_sync(false)
}

fn database(folder: &TempDir) -> SqliteStore {
    SqliteStore::new(folder.path().join("runs.db"))
}

fn database_unsynced(folder: &TempDir) -> SqliteStore {
    database(folder).with_sync(false)
}

/// How long the steps of new runs take, without what it takes to start them.
fn steps<S: Store>(
    runtime: &Runtime,
    make: Make<S>,
    flow: &Flow<u32>,
    runs: u64,
) -> Result<Duration, BoxError> {
    let mut took = Duration::ZERO;
    for _ in 0..runs {
        let folder = tempdir()?;
        let journal = runtime.block_on(make(&folder).start("a", flow, &STEPS))?;
        took += timed(runtime, finish(flow, journal, STEPS))?;
    }

    Ok(took)
}

fn in_memory(runtime: &Runtime, flow: &Flow<u32>, runs: u64) -> Result<Duration, BoxError> {
    (0..runs)
        .map(|_| timed(runtime, finish(flow, MemoryJournal::new("a"), STEPS)))
        .sum()
}

fn unrecorded(runtime: &Runtime, flow: &Flow<u32>, runs: u64) -> Result<Duration, BoxError> {
    let run = async || {
        flow.begin()
            .finish(&mut { STEPS })
            .await
            .map(drop)
            .map_err(Into::into)
    };
    (0..runs).map(|_| timed(runtime, run())).sum()
}

fn timed(
    runtime: &Runtime,
    work: impl Future<Output = Result<(), BoxError>>,
) -> Result<Duration, BoxError> {
    let started = Instant::now();
    runtime.block_on(work)?;
    Ok(started.elapsed())
}

/// As many lines as a run has steps, with a `write` each and nothing else.
fn append(bytes: usize, sync: bool, runs: u64) -> Result<Duration, BoxError> {
    let line = vec![b'a'; bytes];
    let mut took = Duration::ZERO;
    for _ in 0..runs {
        let folder = tempdir()?;
        let mut file: File = OpenOptions::new()
            .append(true)
            .create(true)
            .open(folder.path().join("a"))?;
        let started = Instant::now();

        for _ in 0..STEPS {
            file.write_all(&line)?;
            if sync {
                file.sync_data()?;
            }
        }

        took += started.elapsed();
    }

    Ok(took)
}

/// How long it takes to open a run of 1,000 steps and to run it to where it ended: the shortest and the
/// median time.
fn replay<S: Store>(
    runtime: &Runtime,
    make: Make<S>,
    flow: &Flow<u32>,
) -> Result<[Duration; 2], BoxError> {
    const REPLAYED: u32 = 1_000;
    let folder = tempdir()?;
    let store = make(&folder);
    let journal = runtime.block_on(store.start("a", flow, &REPLAYED))?;

    runtime.block_on(finish(flow, journal, REPLAYED))?;
    let again = async || {
        let journal = store.resume("a", flow).await?;
        finish(flow, journal, REPLAYED).await
    };
    let mut times = (0..21)
        .map(|_| timed(runtime, again()))
        .collect::<Result<Vec<_>, _>>()?;
    times.sort_unstable();

    match (times.first(), times.get(times.len() / 2)) {
        (Some(shortest), Some(median)) => Ok([*shortest, *median]),
        _ => Err("nothing was measured".into()),
    }
}

/// How long a step takes when so many runs go on at once, all of them in their stores already.
fn at_once<S: Store>(
    runtime: &Runtime,
    make: Make<S>,
    flow: &Arc<Flow<u32>>,
    runs: u32,
) -> Result<Duration, BoxError> {
    const SHORT: u32 = 10;
    let folder = tempdir()?;
    let store = make(&folder);
    let mut journals = Vec::new();

    for run in 0..runs {
        journals.push(runtime.block_on(store.start(&format!("run-{run}"), flow, &SHORT))?);
    }

    let took = timed(runtime, async {
        let mut running = JoinSet::new();
        for journal in journals {
            let flow = Arc::clone(flow);
            running.spawn(async move { finish(&flow, journal, SHORT).await });
        }

        while let Some(done) = running.join_next().await {
            done??;
        }

        Ok(())
    })?;

    Ok(took / (runs * SHORT))
}

/// A measurement that failed has none; it is told, and shows as zero.
fn told(took: Result<Duration, BoxError>) -> Duration {
    took.unwrap_or_else(|error| {
        eprintln!("{error}");
        Duration::ZERO
    })
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let runtime = &runtime;
    let mut criterion = criterion();

    for (size, bytes) in [
        ("0.5 KiB", KIB / 2),
        ("10 KiB", 10 * KIB),
        ("100 KiB", 100 * KIB),
    ] {
        let flow = &texts(bytes)?;
        let mut group = criterion.benchmark_group(format!("journal/{size}"));
        group.throughput(Throughput::Elements(STEPS.into()));
        let mut bench = |name: &str, measure: &dyn Fn(u64) -> Result<Duration, BoxError>| {
            group.bench_function(BenchmarkId::from_parameter(name), |b| {
                b.iter_custom(|runs| told(measure(runs)));
            });
        };

        bench("none", &|runs| unrecorded(runtime, flow, runs));
        bench("memory", &|runs| in_memory(runtime, flow, runs));
        bench("file, not synced", &|runs| {
            steps(runtime, files_unsynced, flow, runs)
        });
        bench("SQLite, not synced", &|runs| {
            steps(runtime, database_unsynced, flow, runs)
        });
        bench("plain append, not synced", &|runs| {
            append(bytes, false, runs)
        });
        bench("file", &|runs| steps(runtime, files, flow, runs));
        bench("SQLite", &|runs| steps(runtime, database, flow, runs));
        bench("plain append", &|runs| append(bytes, true, runs));
        group.finish();
    }

    let flow = &texts(10 * KIB)?;
    let plain = || told(append(10 * KIB, true, 1));
    ratio(
        "10 KiB, synced: a step on file / a plain append",
        || told(steps(runtime, files, flow, 1)),
        plain,
    );

    ratio(
        "10 KiB, synced: a step in SQLite / a plain append",
        || told(steps(runtime, database, flow, 1)),
        plain,
    );

    let small = &Arc::new(texts(KIB / 2)?);
    println!("replay of 1,000 steps       shortest      median");
    for (what, [shortest, median]) in [
        ("0.5 KiB, file", replay(runtime, files_unsynced, small)?),
        (
            "0.5 KiB, SQLite",
            replay(runtime, database_unsynced, small)?,
        ),
        ("10 KiB, file", replay(runtime, files_unsynced, flow)?),
        ("10 KiB, SQLite", replay(runtime, database_unsynced, flow)?),
    ] {
        let shortest = format!("{shortest:.2?}");
        let median = format!("{median:.2?}");
        println!("{what:<24} {shortest:>11} {median:>11}");
    }

    for runs in [1, 10, 100, 1_000] {
        let on_file = at_once(runtime, files, small, runs)?;
        let in_database = at_once(runtime, database, small, runs)?;
        print(
            &format!("a synced step, {runs} runs at once: file"),
            format_args!("{on_file:.1?}"),
        );
        print(
            &format!("a synced step, {runs} runs at once: SQLite"),
            format_args!("{in_database:.1?}"),
        );
    }

    criterion.final_summary();
    Ok(())
}
