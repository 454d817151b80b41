//! How fast a run of 1,000 steps is read back, next to the least that this takes.
//!
//! An argument selects measurements by their names, as in `-- "10 KiB, file"`.

#![expect(
    clippy::indexing_slicing,
    reason = "the bounds come from the reads and searches just before"
)]

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_benches::{
    BoxError, Make, database_unsynced, files_unsynced, finish, run_timed, runtime, texts,
};
use cogwork_flow::Flow;
use cogwork_journal::Store;
use tempfile::{TempDir, tempdir};
use tokio::runtime::Runtime;

const KIB: usize = 1_024;
const STEPS: u32 = 1_000;
const ROUNDS: u32 = 101;

/// What one of several rounds took.
struct Taken {
    shortest: Duration,
    median: Duration,
    /// The mean time on a processor, also in the kernel.
    processor: Duration,
    /// The mean number of pages that the kernel mapped.
    faults: u64,
}

fn measure(mut round: impl FnMut() -> Result<Duration, BoxError>) -> Result<Taken, BoxError> {
    round()?;
    let before = Counted::now();
    let mut times = (0..ROUNDS)
        .map(|_| round())
        .collect::<Result<Vec<_>, _>>()?;
    let after = Counted::now();

    times.sort_unstable();
    match (times.first(), times.get(times.len() / 2)) {
        (Some(shortest), Some(median)) => Ok(Taken {
            shortest: *shortest,
            median: *median,
            processor: after.processor.saturating_sub(before.processor) / ROUNDS,
            faults: after.faults.saturating_sub(before.faults) / u64::from(ROUNDS),
        }),
        _ => Err("nothing was measured".into()),
    }
}

/// What the kernel has counted for this process; zeros except on Linux.
#[derive(Default)]
struct Counted {
    processor: Duration,
    faults: u64,
}

impl Counted {
    fn now() -> Self {
        const TICK: Duration = Duration::from_millis(10);
        const FAULTS: usize = 7;
        const USER: usize = 11;
        const SYSTEM: usize = 12;

        // The fields after the name of the program.
        let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
        let fields = stat.rsplit_once(") ").map_or("", |(_, fields)| fields);
        let fields: Vec<u32> = fields
            .split(' ')
            .map(|field| field.parse().unwrap_or_default())
            .collect();
        let field = |number| fields.get(number).copied().unwrap_or_default();

        Self {
            processor: TICK * (field(USER) + field(SYSTEM)),
            faults: field(FAULTS).into(),
        }
    }
}

/// Records a run in a new folder.
fn record<S: Store>(
    runtime: &Runtime,
    make: Make<S>,
    flow: &Flow<u32>,
) -> Result<TempDir, BoxError> {
    let folder = tempdir()?;
    let journal = runtime.block_on(make(&folder).start("a", flow, &STEPS))?;
    runtime.block_on(finish(flow, journal, STEPS))?;
    Ok(folder)
}

/// Opens a recorded run, and runs it to where it ended.
fn replay<S: Store>(runtime: &Runtime, make: Make<S>, flow: &Flow<u32>) -> Result<Taken, BoxError> {
    let folder = record(runtime, make, flow)?;
    let store = make(&folder);
    let again = async || {
        let journal = store.resume("a", flow).await?;
        finish(flow, journal, STEPS).await
    };

    measure(|| run_timed(runtime, again()))
}

/// Only opens a recorded run.
fn open<S: Store>(runtime: &Runtime, make: Make<S>, flow: &Flow<u32>) -> Result<Taken, BoxError> {
    let folder = record(runtime, make, flow)?;
    let store = make(&folder);
    let open = async || {
        store.resume("a", flow).await?;
        Ok(())
    };

    measure(|| run_timed(runtime, open()))
}

/// Reads the file of a run in parts, and does what cannot be left out with each line: its checksum,
/// its end, its UTF-8, and the value of its outcome.
fn least(runtime: &Runtime, flow: &Flow<u32>) -> Result<Taken, BoxError> {
    let folder = record(runtime, files_unsynced, flow)?;
    let path = fs::read_dir(folder.path())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|kind| kind == "jsonl"))
        .ok_or("the run has no file")?;

    measure(|| {
        let started = Instant::now();
        read_least(&path)?;
        Ok(started.elapsed())
    })
}

fn read_least(path: &Path) -> Result<(), BoxError> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0; 64 * KIB];
    let mut filled = 0;

    loop {
        let read = file.read(&mut buffer[filled..])?;
        if read == 0 {
            return Ok(());
        }

        filled += read;
        let mut start = 0;
        while let Some(end) = memchr::memchr(b'\n', &buffer[start..filled]) {
            read_line(&buffer[start..start + end])?;
            start += end + 1;
        }

        buffer.copy_within(start..filled, 0);
        filled -= start;
    }
}

fn read_line(line: &[u8]) -> Result<(), BoxError> {
    const OUTCOME: &str = "\",\"outcome\":";
    std::hint::black_box(crc32fast::hash(line));
    let line = std::str::from_utf8(line)?;

    let start = line.find(OUTCOME).map(|start| start + OUTCOME.len());
    let end = line.rfind("}]");
    let Some(outcome) = start.zip(end).and_then(|(start, end)| line.get(start..end)) else {
        return Ok(());
    };

    let text: Arc<str> = serde_json::from_str(outcome.strip_suffix('}').unwrap_or(outcome))?;
    std::hint::black_box(text);
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let runtime = &runtime;
    let small = &texts(KIB / 2)?;
    let large = &texts(10 * KIB)?;

    let wanted = std::env::args()
        .skip(1)
        .find(|argument| !argument.starts_with('-'));
    let wanted = wanted.unwrap_or_default();
    let print = |name: &str, measure: &dyn Fn() -> Result<Taken, BoxError>| {
        if !name.contains(&wanted) {
            return Ok(());
        }

        let taken = measure()?;
        let shortest = format!("{:.2?}", taken.shortest);
        let median = format!("{:.2?}", taken.median);
        let processor = format!("{:.2?}", taken.processor);
        let faults = taken.faults;
        println!("{name:<28} {shortest:>11} {median:>11} {processor:>11} {faults:>8}");
        Ok::<_, BoxError>(())
    };

    println!("replay of 1,000 steps           shortest      median   processor   faults");
    print("0.5 KiB, file", &|| replay(runtime, files_unsynced, small))?;
    print("0.5 KiB, SQLite", &|| {
        replay(runtime, database_unsynced, small)
    })?;
    print("10 KiB, file", &|| replay(runtime, files_unsynced, large))?;
    print("10 KiB, SQLite", &|| {
        replay(runtime, database_unsynced, large)
    })?;
    print("10 KiB, file, opened only", &|| {
        open(runtime, files_unsynced, large)
    })?;
    print("10 KiB, SQLite, opened only", &|| {
        open(runtime, database_unsynced, large)
    })?;
    print("10 KiB, file, at least", &|| least(runtime, large))
}
