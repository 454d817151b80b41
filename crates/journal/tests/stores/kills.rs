//! A process that is killed again and again comes to the end of its runs, and repeats no call that
//! is on record. `COGWORK_LONG_TESTS=1` kills 500 times in each store.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::child::{Job, wait_until_it_runs};
use crate::each::SqliteStore;
use crate::each::Tested;
use crate::work::{Work, entry, is_long, recorded, undisturbed};

/// What was written of the calls of a run.
struct Told {
    begun: Vec<String>,
    done: Vec<String>,
}

fn told(job: &Job) -> Told {
    let text = std::fs::read_to_string(job.calls()).unwrap_or_default();
    let of = |what| {
        text.lines()
            .filter_map(|line| line.strip_prefix(what)?.strip_suffix(" ."))
            .map(str::to_owned)
            .collect()
    };

    Told {
        begun: of("begun "),
        done: of("done "),
    }
}

/// Which step of the run a call was made in.
fn number(key: &str) -> u64 {
    let number = key.split_once('#').unwrap().1;
    number.split('[').next().unwrap().parse().unwrap()
}

/// The number of steps that the recorded snapshot replaces.
fn folded(text: &str) -> u64 {
    let mut lines = text.split_inclusive('\n').skip(1);
    let line = lines.next().filter(|line| line.ends_with('\n'));
    let number = line.and_then(|line| entry(line).get("snapshot")?.get("number")?.as_u64());
    number.unwrap_or_default()
}

/// Kills and resumes a run until it ends, each time after `longest` at most. Returns how often it
/// was killed.
fn kill_until_it_ends<S: Tested>(
    job: &Job,
    random: &mut TestRng,
    longest: Duration,
    end: &Work,
) -> usize {
    let store = S::within(&job.folder);
    let mut kills = 0;

    // Also those that a fold has taken from the record since.
    let mut ever_recorded = HashSet::new();
    loop {
        let begun_before = told(job).begun.len();
        let mut child = job.command().spawn().unwrap();
        wait_until_it_runs(&mut child);
        std::thread::sleep(random.random_range(Duration::ZERO..longest));
        child.kill().unwrap();

        let output = child.wait_with_output().unwrap();
        store.after_a_kill();

        let made = told(job);
        for key in &made.begun[begun_before..] {
            assert!(
                !ever_recorded.contains(key),
                "{key} was on record and made again"
            );
        }

        let lines = store.lines(&job.run_id);
        let steps = recorded(&lines)
            .into_iter()
            .map(|step| format!("{}:{step}", job.run_id));
        for key in steps {
            assert!(
                made.done.contains(&key),
                "{key} is on record and was never done"
            );
            ever_recorded.insert(key);
        }

        // The state after so many steps is on record.
        let folded = folded(&lines);
        let last = made
            .begun
            .iter()
            .map(|key| number(key))
            .max()
            .unwrap_or_default();

        for key in made.done.iter().filter(|key| number(key) < last) {
            let is_recorded = number(key) <= folded || ever_recorded.contains(key);
            assert!(is_recorded, "{key} was used before it was on record");
        }

        let said = String::from_utf8(output.stdout).unwrap();
        let reported = reported(&store, &job.run_id);
        assert!(reported.is_subset(&made.done.iter().cloned().collect()));
        match said
            .lines()
            .find_map(|line| serde_json::from_str::<Work>(line).ok())
        {
            Some(work) => {
                assert_eq!(&work, end);
                let keys: HashSet<_> = made.done.iter().collect();
                assert_eq!(keys.len(), 3 * job.rounds, "each call was made");
                let repeated = made.begun.len() - keys.len();

                assert!(
                    repeated <= 3 * kills,
                    "at most the three calls in flight are repeated after a kill"
                );
                return kills;
            }
            None => {
                let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(
                    !output.status.success(),
                    "it was not killed and came to no end: {said}{complaint}"
                );
                assert!(!complaint.contains("panicked"), "{complaint}");
                kills += 1;
                assert!(kills < 2_000, "it does not come to its end");
            }
        }
    }
}

/// The calls of which there are events. A kill can leave a part of one, after which others follow.
fn reported<S: Tested>(store: &S, run_id: &str) -> HashSet<String> {
    let read = crate::events::all(store, run_id);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let events = runtime.unwrap().block_on(read);
    let key = |json: &String| {
        let event: serde_json::Value = serde_json::from_str(json).ok()?;
        Some(event["done"].as_str()?.to_owned())
    };
    events.iter().filter_map(key).collect()
}

/// Over runs with and without folds, at least so many kills in all.
fn kills<S: Tested>(at_least: usize, longest: Duration) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let end = runtime.block_on(undisturbed(40));
    let folder = tempfile::tempdir().unwrap();
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let at_least = if is_long() { 500 } else { at_least };
    let mut kills = 0;

    for run in 0.. {
        if kills >= at_least && run >= 2 {
            break;
        }

        let folder = folder.path().to_owned();
        let fold_every = if run % 2 == 0 { 0 } else { 3 };
        let job = Job {
            store: S::NAME,
            folder,
            run_id: format!("run {run}"),
            rounds: 40,
            fold_every,
            slow: 3,
        };

        kills += kill_until_it_ends::<S>(&job, &mut random, longest, &end);
    }

    println!("{kills} kills");
}

#[test]
fn a_run_killed_at_random_comes_to_its_end_and_repeats_no_recorded_call() {
    kills::<crate::each::FileStore>(100, Duration::from_millis(12));
}

#[cfg(feature = "sqlite")]
#[test]
fn the_same_in_a_database() {
    kills::<crate::each::SqliteStore>(30, Duration::from_millis(100));
}

#[cfg(feature = "postgres")]
#[test]
fn the_same_in_postgres() {
    if crate::server::url().is_some() {
        kills::<cogwork_journal::PostgresStore>(30, Duration::from_millis(100));
    }
}

/// The kill hits anything from before the first line of the program to the middle of the run.
#[cfg(feature = "sqlite")]
#[test]
fn a_kill_while_the_database_is_made_leaves_one_that_can_be_used() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let flow = crate::work::flow(&crate::work::counted(&crate::work::Calls::default()));
    let end = runtime.block_on(undisturbed(3));
    let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[8; 32]);

    for _ in 0..30 {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::NAME;
        let run_id = "a".to_owned();
        let job = Job {
            store,
            folder: folder.path().into(),
            run_id,
            rounds: 3,
            fold_every: 0,
            slow: 1,
        };

        let mut child = job.command().spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.random_range(0..20_000)));
        child.kill().unwrap();
        child.wait().unwrap();
        runtime.block_on(async {
            let store = SqliteStore::within(folder.path());
            store.runs().await.unwrap();
            let journal = store
                .start_or_resume("a", &flow, &Work::of(3))
                .await
                .unwrap();
            let mut work: Work = journal.state().unwrap();

            flow.begin()
                .with_journal(journal)
                .finish(&mut work)
                .await
                .unwrap();

            assert_eq!(work, end);
        });
    }
}
