//! A turn of the loop that is recorded for people and tools, compared with the same turn without a recorder.
//!
//! The model answers at once, so this is the highest share that recording can have. `-- --count` runs the recorded turns
//! only, and `-- --count-bare` the others, for tools that count instructions.

use std::sync::atomic::{AtomicU64, Ordering};

use cogwork_benches::{
    BoxError, Canned, criterion, each, nested_plan, print, ratio, reply, runtime, thinker,
};
use cogwork_cot::{Flow, Reasoning};
use cogwork_trace::{RecorderSettings, RunRecorder};
use criterion::Throughput;
use tempfile::TempDir;
use tokio::runtime::Runtime;

const TURNS: u32 = 20;

/// The runs behind a count of instructions.
const COUNTED: u32 = 50;

fn think(
    runtime: &Runtime,
    flow: &Flow<Reasoning>,
    recorder: Option<&RunRecorder>,
) -> Result<(), BoxError> {
    let mut state = Reasoning::new("How far does a train go in 2.5 h at 60 km/h?");
    let mut run = flow.begin().with_id("run");
    if let Some(recorder) = recorder {
        run = run.with_events(recorder);
    }

    for _ in 0..TURNS {
        runtime.block_on(run.step(&mut state))?;
    }

    Ok(())
}

/// Thinks, with a new record, until it is written.
fn think_recorded(
    runtime: &Runtime,
    flow: &Flow<Reasoning>,
    folder: &TempDir,
) -> Result<u64, BoxError> {
    static RECORDS: AtomicU64 = AtomicU64::new(0);

    let number = RECORDS.fetch_add(1, Ordering::Relaxed);
    let path = folder.path().join(format!("{number}.trace"));
    let recorder = RunRecorder::open(&path, RecorderSettings::default())?;
    think(runtime, flow, Some(&recorder))?;
    recorder.flush()?;

    let bytes = std::fs::metadata(&path)?.len();
    std::fs::remove_file(&path)?;
    Ok(bytes)
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let folder = tempfile::tempdir()?;
    let arguments: Vec<String> = std::env::args().collect();
    let is_counted = |name: &str| arguments.iter().any(|argument| argument == name);

    for steps in [10, 50] {
        let text = reply(nested_plan(steps)).to_string();
        let flow = thinker(Canned::new(text)).into_flow();

        if is_counted("--count") || is_counted("--count-bare") {
            for _ in 0..COUNTED {
                match is_counted("--count") {
                    true => drop(think_recorded(&runtime, &flow, &folder)?),
                    false => think(&runtime, &flow, None)?,
                }
            }
            continue;
        }

        let bytes = think_recorded(&runtime, &flow, &folder)?;
        print(
            &format!("plan of {steps} steps: bytes of the record of a turn"),
            bytes / u64::from(TURNS),
        );

        let mut criterion = criterion();
        let mut group = criterion.benchmark_group("record");
        group.throughput(Throughput::Elements(TURNS.into()));
        group.bench_function(format!("20 turns, plan of {steps} steps"), |b| {
            b.iter(|| think_recorded(&runtime, &flow, &folder))
        });
        group.finish();
        criterion.final_summary();

        let path = folder.path().join(format!("{steps}.trace"));
        let recorder = RunRecorder::open(&path, RecorderSettings::default())?;
        ratio(
            &format!("plan of {steps} steps: recorded turn / turn"),
            || each(1, || think(&runtime, &flow, Some(&recorder))),
            || each(1, || think(&runtime, &flow, None)),
        );
        ratio(
            &format!("plan of {steps} steps: the same, with a new file every 20 turns"),
            || each(1, || think_recorded(&runtime, &flow, &folder)),
            || each(1, || think(&runtime, &flow, None)),
        );
    }

    Ok(())
}
