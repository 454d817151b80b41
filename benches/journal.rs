//! The cost of a journal per step, compared with a plain append to a file, and many concurrent runs.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_benches::{
    BoxError, Make, criterion, database, files, finish, print, ratio, run_timed, runtime, texts,
};
use cogwork_flow::Flow;
use cogwork_flow::engine::MemoryJournal;
use criterion::{BenchmarkId, Throughput};
use tempfile::tempdir;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;

const KIB: usize = 1_024;
const STEPS: u32 = 100;

/// How long the steps of new runs take, without what it takes to start them.
fn steps(runtime: &Runtime, make: Make, flow: &Flow<u32>, runs: u64) -> Result<Duration, BoxError> {
    let mut took = Duration::ZERO;
    for _ in 0..runs {
        let folder = tempdir()?;
        let journal = runtime.block_on(make(&folder).start("a", flow, &STEPS))?;
        took += run_timed(runtime, finish(flow, journal, STEPS))?;
    }

    Ok(took)
}

fn in_memory(runtime: &Runtime, flow: &Flow<u32>, runs: u64) -> Result<Duration, BoxError> {
    (0..runs)
        .map(|_| run_timed(runtime, finish(flow, MemoryJournal::new("a"), STEPS)))
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
    (0..runs).map(|_| run_timed(runtime, run())).sum()
}

/// As many lines as a run has steps, with a `write` and a sync each and nothing else.
fn append(bytes: usize, runs: u64) -> Result<Duration, BoxError> {
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
            file.sync_data()?;
        }

        took += started.elapsed();
    }

    Ok(took)
}

/// How long a step takes when so many runs go on at once, all of them in their stores already.
fn at_once(
    runtime: &Runtime,
    make: Make,
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

    let took = run_timed(runtime, async {
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
        bench("file", &|runs| steps(runtime, files, flow, runs));
        bench("SQLite", &|runs| steps(runtime, database, flow, runs));
        bench("plain append", &|runs| append(bytes, runs));
        group.finish();
    }

    let flow = &texts(10 * KIB)?;
    let plain = || told(append(10 * KIB, 1));
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
