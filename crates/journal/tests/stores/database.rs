//! Features and failures that only databases have.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogwork_flow::engine::{Journal, Json};
use cogwork_flow::{Action, Flow, from_fn};
use cogwork_journal::{RunQuery, RunStatus, Store, StoreError, StoreErrorKind};
use rusqlite::Connection;

use crate::each::FileStore;
use crate::each::SqliteStore;
use crate::each::Tested;
use crate::work::{Calls, Work, counted, flow, greeting, told, undisturbed};

fn work() -> Flow<Work> {
    flow(&counted(&Calls::default()))
}

/// Does something to the database behind the store's back. It is checkpointed after that.
fn change(folder: &Path, sql: &str) {
    Connection::open(folder.join("runs.db"))
        .unwrap()
        .execute_batch(sql)
        .unwrap();
}

/// A database with a whole run `a`.
async fn one_run(folder: &Path) {
    let store = SqliteStore::within(folder);
    let flow = work();
    let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut Work::of(2))
        .await
        .unwrap();

    // Its last connection is closed once nobody uses it.
    while store.is_in_use("a").await.unwrap() {}
    drop(store);
    change(folder, "PRAGMA wal_checkpoint(TRUNCATE)");
}

/// Tries to take up the run, and sees that the database is left as it is.
async fn refused(folder: &Path) -> StoreError {
    let path = folder.join("runs.db");
    let before = std::fs::read(&path).unwrap();
    let store = SqliteStore::within(folder);
    let error = store
        .start_or_resume("a", &work(), &Work::of(2))
        .await
        .unwrap_err();

    assert_eq!(
        store
            .deliver("a", "name", &1)
            .await
            .unwrap_err()
            .to_string(),
        error.to_string()
    );

    drop(store);
    assert!(
        std::fs::read(&path).unwrap() == before,
        "the database was changed"
    );
    error
}

#[tokio::test]
async fn many_runs_work_side_by_side_in_one_database() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::within(folder.path());
    let end = undisturbed(4).await;
    let mut running = tokio::task::JoinSet::new();

    for number in 0..50 {
        let store = store.clone();
        running.spawn(async move {
            let flow = work();
            let journal = store
                .start(&format!("run {number}"), &flow, &Work::of(4))
                .await
                .unwrap();
            let mut work: Work = journal.state().unwrap();
            let every = NonZeroU64::new(if number % 2 == 0 { 3 } else { 100 }).unwrap();

            flow.begin()
                .with_journal(journal)
                .with_fold_every(every)
                .finish(&mut work)
                .await
                .unwrap();

            work
        });
    }

    assert!(running.join_all().await.into_iter().all(|work| work == end));
    let runs = store.query(RunQuery::new().ended()).await.unwrap();
    assert_eq!(runs.len(), 50);

    // Each can be replayed, by another store over the same file too.
    let elsewhere = SqliteStore::within(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    for run in runs {
        let journal = elsewhere.resume(&run.run_id, &flow).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        flow.begin()
            .with_journal(journal)
            .finish(&mut work)
            .await
            .unwrap();

        assert_eq!(work, end);
    }

    assert_eq!(calls.lock().unwrap().len(), 0);
}

#[tokio::test]
async fn runs_are_found_by_what_is_asked_of_them() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::within(folder.path());
    assert_eq!(store.runs().await.unwrap(), []);
    assert!(!store.path().exists(), "asking makes no database");

    let greeting = greeting();
    let failing = Flow::builder("failing")
        .start("fail")
        .node(
            "fail",
            from_fn(|_: &mut u32| Err::<(), _>(std::io::Error::other("no luck").into())),
        )
        .end("fail", Action::DEFAULT)
        .build()
        .unwrap();

    let journal = store.start("failed", &failing, &1).await.unwrap();
    failing
        .begin()
        .with_journal(journal)
        .finish(&mut 1)
        .await
        .unwrap_err();

    store.start("Open", &failing, &1).await.unwrap();
    for run_id in ["paused", "answered", "ended"] {
        let journal = store.start(run_id, &greeting, &"Hello").await.unwrap();
        greeting
            .begin()
            .with_journal(journal)
            .finish(&mut String::new())
            .await
            .unwrap_err();
    }

    store.deliver("answered", "name", &"Ada").await.unwrap();
    store.deliver("ended", "name", &"Ada").await.unwrap();
    let journal = store.resume("ended", &greeting).await.unwrap();
    greeting
        .begin()
        .with_journal(journal)
        .finish(&mut String::new())
        .await
        .unwrap();

    let runs = store.runs().await.unwrap();
    let found = async |query: RunQuery| {
        let runs = store.query(query).await.unwrap();
        runs.into_iter()
            .map(|run| run.run_id)
            .collect::<Vec<_>>()
            .join(", ")
    };

    let all = RunQuery::new;
    assert_eq!(found(all()).await, "ended, answered, paused, Open, failed");
    assert_eq!(found(all().limit(2).offset(1)).await, "answered, paused");
    assert_eq!(found(all().flow("failing")).await, "Open, failed");
    assert_eq!(found(all().flow("greeting").open()).await, "answered");
    assert_eq!(found(all().open()).await, "answered, Open");
    assert_eq!(found(all().paused()).await, "paused");
    assert_eq!(found(all().flow("'; DROP TABLE runs; --")).await, "");
    assert_eq!(found(all().failed()).await, "failed");
    assert_eq!(found(all().ended()).await, "ended");
    assert_eq!(found(all().limit(0)).await, "");
    assert!(matches!(&runs[4].status, RunStatus::Paused { waits } if waits[0].event == "name"));
}

#[tokio::test]
async fn a_line_that_cannot_be_read_is_named() {
    let folder = tempfile::tempdir().unwrap();
    one_run(folder.path()).await;
    change(
        folder.path(),
        "UPDATE lines SET line = replace(line, ':2}', ':') WHERE number = 4",
    );
    let error = refused(folder.path()).await;

    assert_eq!(error.kind(), StoreErrorKind::Damaged);
    insta::assert_snapshot!(told(error, folder.path()), @"runs/runs.db, run `a`, line 4: the line isn't one of a journal: expected value at line 1 column 46");
}

#[tokio::test]
async fn what_is_no_database_of_runs_is_refused_and_left_as_it_is() {
    let path = |folder: &Path| folder.join("runs.db");
    let text = tempfile::tempdir().unwrap();
    std::fs::write(path(text.path()), "Dear diary, ".repeat(100)).unwrap();
    let error = refused(text.path()).await;

    assert_eq!(error.kind(), StoreErrorKind::Damaged);
    insta::assert_snapshot!(told(error, text.path()), @"runs/runs.db: cannot be opened: file is not a database");

    let foreign = tempfile::tempdir().unwrap();
    change(
        foreign.path(),
        "PRAGMA journal_mode = WAL; CREATE TABLE runs (id TEXT)",
    );
    let error = refused(foreign.path()).await;
    assert_eq!(error.kind(), StoreErrorKind::Damaged);
    insta::assert_snapshot!(told(error, foreign.path()), @"runs/runs.db: this isn't a database of runs: its header has the application id 0; expected 1131374455");

    let newer = tempfile::tempdir().unwrap();
    one_run(newer.path()).await;
    change(newer.path(), "PRAGMA user_version = 3");
    let error = refused(newer.path()).await;

    assert_eq!(error.kind(), StoreErrorKind::Damaged);
    insta::assert_snapshot!(told(error, newer.path()), @"runs/runs.db: this is a database of runs of format 3; expected format 2");

    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(path(folder.path())).unwrap();
    let error = SqliteStore::within(folder.path()).runs().await.unwrap_err();
    insta::assert_snapshot!(told(error, folder.path()), @"runs/runs.db: cannot be opened: unable to open database file: runs/runs.db");
}

#[cfg(unix)]
#[tokio::test]
async fn only_the_current_user_can_read_a_database() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::within(folder.path());
    store.start("a", &greeting(), &"Hello").await.unwrap();
    for name in ["runs.db", "runs.db-wal", "runs.db-shm"] {
        let metadata = std::fs::metadata(folder.path().join(name)).unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, 0o600, "{name}");
    }
}

#[tokio::test]
async fn a_run_that_somebody_removed_fails_and_no_other() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::within(folder.path());
    let flow = work();
    let gone = store.start("a", &flow, &Work::of(3)).await.unwrap();
    let other = store.start("b", &flow, &Work::of(3)).await.unwrap();

    change(
        folder.path(),
        "PRAGMA foreign_keys = ON; DELETE FROM runs WHERE id = 'a'",
    );
    let mut first = Work::of(3);
    let mut second = Work::of(3);
    let mut gone = flow.begin().with_journal(gone);
    let mut other = flow.begin().with_journal(other);
    let (gone, other) = tokio::join!(gone.finish(&mut first), other.finish(&mut second));

    insta::assert_snapshot!(told(gone.unwrap_err(), folder.path()), @"flow `work`, node `gather`: the journal failed: runs/runs.db: the run `a` was removed, or written by somebody else, while it was at work");
    other.unwrap();
    assert_eq!(second, undisturbed(3).await);
}

#[tokio::test]
async fn all_that_a_run_waits_for_can_be_asked_for() {
    let ask = |event: &str, seconds: u64| {
        let wait = cogwork_flow::Wait::for_event(event, |_: &mut u32, (): ()| ())
            .with_reason(|n| format!("{n} asks"))
            .with_timeout(Duration::from_secs(seconds));
        let flow = Flow::builder(event).start("ask").wait("ask", wait);
        flow.end("ask", "default")
            .end("ask", cogwork_flow::Action::TIMED_OUT)
            .build()
            .unwrap()
    };

    let branches = cogwork_flow::Branches::new()
        .branch("ada", ask("ada", 60), |n: &u32| *n, |_, _| ())
        .branch("bob", ask("bob", 9_999), |n: &u32| *n, |_, _| ());
    let flow = Flow::builder("two")
        .start("fork")
        .branches("fork", branches)
        .end("fork", "default")
        .build()
        .unwrap();

    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::new(folder.path().join("runs.db"));
    let journal = store.start("a", &flow, &7).await.unwrap();
    assert!(
        flow.begin()
            .with_journal(journal)
            .finish(&mut 7)
            .await
            .unwrap_err()
            .paused()
            .is_some()
    );

    let waits = async |query: RunQuery| match store.query(query).await.unwrap().as_slice() {
        [] => 0,
        [run] => match &run.status {
            RunStatus::Paused { waits } => waits.len(),
            status => panic!("{status:?}"),
        },
        runs => panic!("{runs:?}"),
    };

    assert_eq!(waits(RunQuery::new().paused()).await, 2);
    store.deliver("a", "bob", &()).await.unwrap();
    assert_eq!(waits(RunQuery::new().paused()).await, 0, "it can go on");
}

/// Three questions, of which one has a time limit, one after the other or at once, round after
/// round.
fn rounds() -> Flow<Vec<String>> {
    let ask = |event: &str| {
        cogwork_flow::Wait::for_event(event, |said: &mut Vec<String>, word: String| {
            said.push(word)
        })
    };

    let one = |event: &str| {
        let flow = Flow::builder(event).start("ask").wait("ask", ask(event));
        flow.end("ask", Action::DEFAULT).build().unwrap()
    };
    let both = cogwork_flow::Branches::new()
        .branch(
            "ada",
            one("ada"),
            |_: &Vec<String>| vec![],
            |said, more| said.extend(more),
        )
        .branch(
            "bob",
            one("bob"),
            |_: &Vec<String>| vec![],
            |said, more| said.extend(more),
        );

    Flow::builder("rounds")
        .start("first")
        .wait("first", ask("eve").with_timeout(Duration::from_secs(1_000)))
        .branches("both", both)
        .edge("first", Action::DEFAULT, "both")
        .edge("first", cogwork_flow::Action::TIMED_OUT, "both")
        .edge("both", Action::DEFAULT, "first")
        .build()
        .unwrap()
}

/// The summary of the only run, without the times.
async fn standing(store: &Store) -> (u64, String) {
    let run = store.runs().await.unwrap().remove(0);
    let status = match run.status {
        RunStatus::Paused { waits } => {
            let waits = waits
                .iter()
                .map(|wait| format!("{} for {}", wait.step, wait.event));
            format!("paused at {}", waits.collect::<Vec<_>>().join(", "))
        }
        status => format!("{status:?}"),
    };

    (run.entries, status)
}

#[tokio::test]
async fn a_run_is_listed_as_it_would_be_from_a_file_after_each_thing_that_happens_to_it() {
    let folder = tempfile::tempdir().unwrap();
    let flow = rounds();
    let file = FileStore::within(folder.path());
    let database = SqliteStore::within(folder.path());

    for fold_every in [1, 2, 100] {
        let run_id = format!("{fold_every}");
        let every = NonZeroU64::new(fold_every).unwrap();
        let first = file.start(&run_id, &flow, &[""; 0]).await.unwrap();
        let second = database.start(&run_id, &flow, &[""; 0]).await.unwrap();
        let journals: [Arc<dyn Journal>; 2] = [Arc::new(first), Arc::new(second)];
        let mut runs = journals.clone().map(|journal| {
            let run = flow.begin().with_journal(journal);
            (run.with_fold_every(every), vec![])
        });
        let mut seen = std::collections::HashSet::new();
        let happens =
            "finish eve finish ada finish bob finish bob! finish bob bob eve eve ada ada finish";

        for what in happens.split(' ').cycle().take(60) {
            for ((run, said), journal) in runs.iter_mut().zip(&journals) {
                match what.strip_suffix('!') {
                    None if what == "finish" => drop(run.finish(said).await),
                    // One that cannot be read, past the run, which would refuse it.
                    Some(event) => {
                        let answer = Json::of(&7).unwrap();
                        journal.deliver(event, answer).await.unwrap();
                    }
                    None => run.deliver(what, &"word").await.unwrap(),
                }
            }

            let here = standing(&file).await;
            let there = standing(&database).await;
            assert_eq!(here, there, "folded every {fold_every} steps, after {what}");
            seen.insert(here.1);
        }

        let [(_, said), (_, other)] = &runs;
        assert_eq!(said, other);
        assert!(said.len() > 5 && seen.len() > 4, "{seen:?}");
        std::fs::remove_file(file.path(&run_id)).unwrap();
        change(folder.path(), "PRAGMA foreign_keys = ON; DELETE FROM runs");
    }
}
