//! Workers that share runs and are killed with signal 9.

use std::collections::HashSet;
use std::process::Child;
use std::sync::Arc;
use std::time::{Duration, Instant};

use cogwork_flow::Backoff;
use cogwork_journal::{PostgresStore, RunQuery, Worker};
use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::child::{Job, told};
use crate::each::Tested;
use crate::server::{tamper, with_server};
use crate::work::{Calls, Work, counted, flow, recorded, undisturbed};

const WORKERS: usize = 3;
const RUNS: usize = 12;
const KILLS: usize = 24;
const ROUNDS: usize = 8;

/// The calls that one worker makes at once: two runs, with batches of three.
const CALLS_AT_ONCE: usize = 6;

/// How long the workers may take after the last kill.
const PATIENCE: Duration = Duration::from_secs(120);

/// A run that dies again and again isn't set aside here.
fn store(job: &Job) -> PostgresStore {
    let retries = Backoff::of::<1_000>()
        .with_first(Duration::from_millis(1))
        .with_factor(1.0);
    PostgresStore::within(&job.folder).with_retries(retries)
}

#[test]
#[ignore = "the other process of other tests"]
fn works() {
    let Some(job) = Job::from_environment() else {
        return;
    };

    let flow = Arc::new(flow(&told(&job.folder.join("all.calls"), job.slow)));
    let worker = Worker::new(store(&job))
        .with_flow(flow)
        .with_concurrency(2)
        .with_poll_interval(Duration::from_millis(50));

    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(worker.run(std::future::pending::<()>()));
}

/// Workers in processes of their own, each with a name that no other has had.
struct Crew {
    job: Job,
    store: PostgresStore,
    number: usize,
    members: Vec<(String, Child)>,
}

impl Crew {
    fn hire(&mut self) {
        self.number += 1;
        let name = format!("worker {}", self.number);
        let job = Job {
            run_id: name.clone(),
            ..self.job.clone()
        };
        let child = job.command_of("worker_kills::works").spawn().unwrap();
        self.members.push((name, child));
    }

    /// Kills a worker. Its leases expire at once, instead of later.
    fn kill(&mut self, index: usize) {
        let (name, mut child) = self.members.swap_remove(index);
        assert!(
            child.try_wait().unwrap().is_none(),
            "{name} ended by itself"
        );
        child.kill().unwrap();
        child.wait().unwrap();
        tamper(
            &self.store,
            &format!("UPDATE runs SET wake = clock_timestamp() WHERE worker = '{name}'"),
        );
    }

    /// The keys of the calls that began, in their order.
    fn begun(&self) -> Vec<String> {
        let path = self.job.folder.join("all.calls");
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let begun = text
            .lines()
            .filter_map(|line| line.strip_prefix("begun ")?.strip_suffix(" ."));
        begun.map(str::to_owned).collect()
    }

    /// The keys of the calls that are on record, of all runs.
    fn on_record(&self) -> HashSet<String> {
        let runs = (0..RUNS).map(run_id);
        let keys = runs.flat_map(|run_id| {
            let steps = recorded(&self.store.lines(&run_id));
            steps
                .into_iter()
                .map(move |step| format!("{run_id}:{step}"))
        });
        keys.collect()
    }
}

impl Drop for Crew {
    fn drop(&mut self) {
        for (_, child) in &mut self.members {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn run_id(number: usize) -> String {
    format!("run {number}")
}

#[test]
fn workers_that_are_killed_lose_no_run_and_repeat_no_recorded_call() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let job = Job {
            store: PostgresStore::NAME,
            folder: folder.path().to_owned(),
            run_id: String::new(),
            rounds: ROUNDS,
            fold_every: 0,
            slow: 60,
        };
        let store = store(&job);
        let calls = Calls::default();
        let flow = flow(&counted(&calls));
        for number in 0..RUNS {
            let run_id = run_id(number);
            let input = Work::of(ROUNDS);
            let enqueued = store.enqueue(&run_id, &flow, &input);
            enqueued.await.unwrap();
        }

        let mut crew = Crew {
            job,
            store: store.clone(),
            number: 0,
            members: Vec::new(),
        };
        for _ in 0..WORKERS {
            crew.hire();
        }

        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[11; 32]);
        let mut points = Vec::new();
        for _ in 0..KILLS {
            let pause = random.random_range(Duration::from_millis(100)..Duration::from_millis(300));
            tokio::time::sleep(pause).await;
            crew.kill(random.random_range(0..WORKERS));
            crew.hire();

            // First the record: calls that begin later must not be on it.
            let on_record = crew.on_record();
            points.push((crew.begun().len(), on_record));
        }

        let began = Instant::now();
        while store.query(RunQuery::new().ended()).await.unwrap().len() < RUNS {
            assert!(began.elapsed() < PATIENCE, "the runs don't end");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }

        let begun = crew.begun();
        for (from, on_record) in &points {
            let again = begun[*from..].iter().find(|key| on_record.contains(*key));
            assert_eq!(again, None, "a call on record was made again");
        }
        let different: HashSet<_> = begun.iter().collect();
        assert_eq!(different.len(), RUNS * 3 * ROUNDS, "no call is missing");
        let repeated = begun.len() - different.len();
        assert!(
            repeated <= KILLS * CALLS_AT_ONCE,
            "{repeated} repeated calls"
        );
        println!("{KILLS} kills, {repeated} calls in progress were repeated");

        // Everything is on record.
        drop(crew);
        store.after_a_kill();
        let end = undisturbed(ROUNDS).await;
        for number in 0..RUNS {
            let journal = store.resume(&run_id(number), &flow).await.unwrap();
            let mut work: Work = journal.state().unwrap();
            let mut run = flow.begin().with_journal(journal);
            run.finish(&mut work).await.unwrap();
            assert_eq!(work, end);
        }
        assert_eq!(calls.lock().unwrap().len(), 0);
    });
}
