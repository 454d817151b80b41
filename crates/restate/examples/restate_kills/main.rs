//! A chain of thought, a strategy, an agent file and a loop with a batch as workflows of Restate,
//! with four workers. The workers and the server are killed with signal 9 at random moments while
//! runs are in progress. Every call is counted independently of Restate, to show that no recorded
//! call is made again.
//!
//! `cargo run -p cogwork-restate --example restate_kills -- --kills 200` kills more often. The
//! server is downloaded and started by `scripts/local-restate`.
//!
//! ```text
//! runs: 204, each with the same end as one that nobody killed
//! calls: 1428, in flight at a kill: 6
//! kills: 20, recorded calls: 1422, made twice: 0, lost: 0
//! ```

mod calls;
mod cluster;
mod flows;
mod record;
mod runs;

use std::env;
use std::error::Error;
use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use cluster::{Process, Server, free_port, serve, worker};
use record::Record;
use runs::Runs;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// Returns a random number, taken from the seed of a hash map.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

async fn parent(kills: u64) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let calls = folder.path().join("calls");
    std::fs::create_dir(&calls)?;
    let (server, mut server_process) = Server::start(&folder.path().join("store"))?;

    let port = free_port()?;
    let mut workers = Vec::new();
    for _ in 0..4 {
        workers.push(worker(port, &calls)?);
    }

    server.ready().await?;
    server.register(port).await?;

    let runs = Runs::start(&server, &calls)?;
    let mut seen = Record::new();
    for kill in 1..=kills {
        tokio::time::sleep(Duration::from_millis(random() % 400)).await;
        kill_one(&server, &mut server_process, &mut workers, kill).await?;
        runs.look(&server, &mut seen).await?;
    }

    let finished = runs.finish().await?;
    drop(workers);
    println!(
        "runs: {}, each with the same end as one that nobody killed",
        finished.runs
    );
    tally(&finished.record, &seen, &calls, kills)
}

/// Kills the server or a worker, and starts it again.
async fn kill_one(
    server: &Server,
    server_process: &mut Process,
    workers: &mut [Process],
    number: u64,
) -> Result<()> {
    let victim = usize::try_from(random() % 5)?;
    let Some(worker) = workers.get_mut(victim) else {
        let ran = server_process.kill()?;
        eprintln!("kill {number}: the server (running: {ran})");
        return server.ready().await;
    };

    let ran = worker.kill()?;
    eprintln!("kill {number}: worker {victim} (running: {ran})");
    if ran {
        Ok(())
    } else {
        Err("a worker ended by itself".into())
    }
}

/// Compares the calls that were made with those on record.
fn tally(record: &Record, seen: &Record, calls: &Path, kills: u64) -> Result<bool> {
    let made = calls::read(calls, "")?;

    // A call that was made again although an earlier time is on record.
    let again = made
        .iter()
        .filter_map(|(key, times)| Some(times - record.get(key)?));
    let twice: u64 = again.sum();

    // A call without a record, or a record that was there at a kill and isn't any more.
    let without = made.keys().filter(|key| !record.contains_key(*key)).count();
    let changed = seen
        .iter()
        .filter(|(key, times)| record.get(*key) != Some(*times))
        .count();
    let lost = without + changed;

    let all: u64 = made.values().sum();
    let recorded = made.len() - without;
    let in_flight = all - twice - made.len() as u64;
    println!("calls: {all}, in flight at a kill: {in_flight}");
    println!("kills: {kills}, recorded calls: {recorded}, made twice: {twice}, lost: {lost}");
    Ok(twice == 0 && lost == 0)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["worker", port, calls] => match port.parse() {
            Ok(port) => serve(port, calls.into()).await.map(|()| true),
            Err(_) => Err(format!("`{port}` isn't a port").into()),
        },
        [] => parent(20).await,
        ["--kills", kills] => match kills.parse() {
            Ok(kills) => parent(kills).await,
            Err(_) => Err(format!("--kills: `{kills}` isn't a number").into()),
        },
        _ => Err("expected no arguments or `--kills N`".into()),
    };

    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
