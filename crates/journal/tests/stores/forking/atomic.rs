//! A fork exists completely or not at all.

use std::time::Duration;

use cogwork_flow::engine::Journal;
use cogwork_journal::{Fork, RunStatus, Store};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::finish;
use crate::child::{Job, Task, in_its_store, wait_until_it_runs};
use crate::each::Tested;
use crate::work::{Calls, Work, counted, flow, undisturbed};

const ROUNDS: usize = 30;

/// The number of steps: the calls of `gather`, the batch, and the calls of `add`.
const STEPS: u64 = 2 * ROUNDS as u64 + 1;

/// Forks the run of the job again and again.
struct Forks;

impl Task for Forks {
    async fn execute(store: &Store, job: &Job) {
        let flow = flow(&counted(&Calls::default()));
        println!("\nit runs");

        loop {
            let journal = store.fork(&job.run_id, &flow, Fork::at(STEPS)).await;
            println!("{}", journal.unwrap().run_id());
        }
    }
}

#[test]
#[ignore = "the other process of the tests below"]
fn forks() {
    in_its_store::<Forks>();
}

fn kill_while_forking<S: Tested>(kills: usize) {
    let folder = tempfile::tempdir().unwrap();
    let job = Job {
        store: S::NAME,
        folder: folder.path().to_owned(),
        run_id: "a".to_owned(),
        rounds: ROUNDS,
        slow: 0,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let store = S::within(folder.path());
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(ROUNDS)).await.unwrap();
        finish(&flow, journal).await;
    });

    let mut random = TestRng::deterministic_rng(RngAlgorithm::ChaCha);
    for _ in 0..kills {
        let mut child = job.command_of("forking::atomic::forks").spawn().unwrap();
        wait_until_it_runs(&mut child);
        std::thread::sleep(random.random_range(Duration::ZERO..Duration::from_millis(30)));
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();

        let store = S::within(folder.path());
        store.after_a_kill();
        runtime.block_on(check(&store, &String::from_utf8_lossy(&output.stdout)));
    }
}

/// Checks that all runs of a store are complete, and that the forks that were made are there.
async fn check<S: Tested>(store: &S, made: &str) {
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let runs = store.runs().await.unwrap();

    for run in runs.iter().filter(|run| run.run_id != "a") {
        assert_eq!(run.status, RunStatus::Open { waits: vec![] }, "{run:?}");
        assert_eq!(run.fork.as_ref().unwrap().step, STEPS);
    }
    for name in made.lines().filter(|line| line.starts_with("a fork")) {
        // A kill can cut off the last line.
        let is_there = runs.iter().any(|run| run.run_id.starts_with(name));
        assert!(is_there, "{name}");
    }

    // The last one was made when the process was killed.
    let Some(last) = runs
        .iter()
        .filter(|run| run.fork.is_some())
        .max_by_key(|run| {
            let number = run.run_id.rsplit(' ').next().unwrap();
            number.parse::<u32>().unwrap()
        })
    else {
        return;
    };
    let mut resumed = store.resume(&last.run_id, &flow).await;
    if resumed.is_err() {
        // The server may have committed this fork after the leases of the killed process were ended.
        store.after_a_kill();
        resumed = store.resume(&last.run_id, &flow).await;
    }
    let journal = resumed.unwrap();
    assert_eq!(finish(&flow, journal).await, undisturbed(ROUNDS).await);
    assert_eq!(calls.lock().unwrap().len(), 1);
    store.remove(&last.run_id).await.unwrap();
}

#[test]
fn a_kill_leaves_no_half_fork_in_files() {
    kill_while_forking::<crate::each::FileStore>(12);
}

#[cfg(feature = "sqlite")]
#[test]
fn a_kill_leaves_no_half_fork_in_a_database() {
    kill_while_forking::<crate::each::SqliteStore>(8);
}

#[cfg(feature = "postgres")]
#[test]
fn a_kill_leaves_no_half_fork_in_postgres() {
    if crate::server::url().is_some() {
        kill_while_forking::<cogwork_journal::PostgresStore>(5);
    }
}
