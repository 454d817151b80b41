//! PostgreSQL: leases, fences, and servers that fail.

use std::num::NonZeroU64;
use std::time::Duration;

use cogwork_flow::{Flow, Wait};
use cogwork_journal::{PostgresStore, RunStatus, StoreErrorKind, Worker};

use crate::each::Tested;
use crate::server::{connect, execute, tamper, with_server};
use crate::work::{Calls, Work, counted, flow, greeting, undisturbed};

#[test]
fn a_run_in_use_is_refused_with_the_name_of_its_worker() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();

        let second = PostgresStore::within(folder.path());
        let error = second.resume("a", &flow).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::InUse);
        let worker = format!("in use by `process {}`", std::process::id());
        assert!(error.to_string().contains(&worker), "{error}");

        drop(journal);
        second.resume("a", &flow).await.unwrap();
    });
}

#[test]
fn a_lease_that_expired_is_taken_over_and_its_first_holder_cannot_write() {
    with_server(async {
        // Neither by appending a line, nor by replacing all of them with a snapshot.
        for fold_every in [None, NonZeroU64::new(1)] {
            let folder = tempfile::tempdir().unwrap();
            let store = PostgresStore::within(folder.path());
            let flow = flow(&counted(&Calls::default()));
            let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
            let mut work: Work = journal.state().unwrap();
            let mut first = flow.begin().with_journal(journal);
            if let Some(steps) = fold_every {
                first = first.with_fold_every(steps);
            }
            first.step(&mut work).await.unwrap();

            // As if the first one had been suspended for longer than its lease.
            let expired = "UPDATE runs SET wake = clock_timestamp() - interval '1 s'";
            tamper(&store, expired);
            let other = PostgresStore::within(folder.path());
            let journal = other.resume("a", &flow).await.unwrap();
            let before = store.lines("a");

            let error = first.finish(&mut work).await.unwrap_err();
            assert!(error.is_journal(), "{error}");
            assert_eq!(store.lines("a"), before);

            let mut work: Work = journal.state().unwrap();
            let mut second = flow.begin().with_journal(journal);
            second.finish(&mut work).await.unwrap();
            assert_eq!(work, undisturbed(2).await);
        }
    });
}

#[test]
fn a_lease_is_renewed_for_as_long_as_the_journal_exists() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let lease = Duration::from_millis(300);
        let store = PostgresStore::within(folder.path()).with_lease(lease);
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(2)).await.unwrap();
        let end = || {
            let schema = store.schema().to_owned();
            let sql = format!("SELECT extract(epoch FROM wake)::float8 FROM {schema}.runs");
            execute(async |client| client.query_one(&sql, &[]).await.unwrap().get::<_, f64>(0))
        };

        let first = end();
        while end() < first + 2.0 * lease.as_secs_f64() {
            tokio::time::sleep(lease / 10).await;
        }

        let second = PostgresStore::within(folder.path());
        assert_eq!(
            second.resume("a", &flow).await.unwrap_err().kind(),
            StoreErrorKind::InUse
        );
        drop(journal);
        second.resume("a", &flow).await.unwrap();
    });
}

#[test]
fn an_answer_to_a_run_that_ended_and_is_in_use_is_refused() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(1)).await.unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut Work::of(1)).await.unwrap();

        let error = store.deliver("a", "name", &1).await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Ended, "{error}");
    });
}

#[test]
fn an_answer_reaches_a_run_that_is_in_use() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = greeting();
        let journal = store.start("a", &flow, &"Hello, ").await.unwrap();

        let elsewhere = PostgresStore::within(folder.path());
        elsewhere.deliver("a", "name", &"Ada").await.unwrap();
        let error = elsewhere.deliver("a", "nome", &"Ada").await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::UnknownEvent, "{error}");

        drop(journal);
        let journal = store.resume("a", &flow).await.unwrap();
        let mut text: String = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut text).await.unwrap();
        assert_eq!(text, "Hello, Ada");
    });
}

/// A run is given back shortly after its journal is dropped, and an answer may come before that.
#[test]
fn a_run_that_paused_and_is_still_in_use_is_open_once_it_is_answered() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = greeting();
        let journal = store.start("a", &flow, &"Hello, ").await.unwrap();
        let mut text: String = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut text).await.unwrap_err();

        let elsewhere = PostgresStore::within(folder.path());
        let status = async || elsewhere.runs().await.unwrap().remove(0).status;
        assert!(matches!(status().await, RunStatus::Paused { .. }));

        elsewhere.deliver("a", "name", &"Ada").await.unwrap();
        assert_eq!(status().await, RunStatus::Open { waits: vec![] });

        drop(run);
        let journal = elsewhere.resume("a", &flow).await.unwrap();
        let mut text: String = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut text).await.unwrap();
        assert_eq!(text, "Hello, Ada");
    });
}

#[test]
fn an_answer_to_a_run_in_use_leaves_its_other_waits_listed() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = crate::answers::asking();
        let mut names: Vec<_> = ["a", "b"].map(str::to_owned).into();
        let journal = store.start("a", &flow, &names).await.unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut names).await.unwrap_err();

        let elsewhere = PostgresStore::within(folder.path());
        elsewhere.deliver("a", "ev a", &1).await.unwrap();
        let status = elsewhere.runs().await.unwrap().remove(0).status;
        assert_eq!(status.to_string(), "open, waits for `ev b`");
    });
}

/// No column can contain such a name, so the answer cannot be left for whoever works on the run.
#[test]
fn an_answer_to_a_name_with_a_null_waits_until_the_run_is_given_back() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let wait = Wait::for_event("na\0me", |text: &mut String, name: String| {
            text.push_str(&name);
        });
        let flow = Flow::builder("greeting")
            .wait("ask", wait)
            .chain(["ask"])
            .build()
            .unwrap();
        let journal = store.start("a", &flow, &"Hello, ").await.unwrap();

        let elsewhere = PostgresStore::within(folder.path());
        elsewhere.runs().await.unwrap();
        let give_back = async {
            tokio::time::sleep(Duration::from_millis(50)).await;
            drop(journal);
        };

        let (delivered, ()) = tokio::join!(elsewhere.deliver("a", "na\0me", &"Ada"), give_back);
        delivered.unwrap();
    });
}

#[test]
fn many_processes_may_create_the_tables_at_once() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let stores: Vec<_> = (0..8)
            .map(|_| PostgresStore::within(folder.path()))
            .collect();
        let listed = stores
            .into_iter()
            .map(|store| tokio::spawn(async move { store.runs().await }));

        for listed in listed.collect::<Vec<_>>() {
            assert_eq!(listed.await.unwrap().unwrap(), []);
        }
    });
}

#[test]
fn no_lines_of_a_removed_run_are_left() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = flow(&counted(&Calls::default()));
        for run_id in ["a", "b"] {
            let journal = store.start(run_id, &flow, &Work::of(3)).await.unwrap();
            let mut work: Work = journal.state().unwrap();
            let mut run = flow.begin().with_journal(journal);
            run.step(&mut work).await.unwrap();
        }
        store.remove("a").await.unwrap();

        let schema = store.schema();
        let sql = format!("SELECT DISTINCT run FROM {schema}.lines");
        let left = connect().await.query(&sql, &[]).await.unwrap();
        assert_eq!(left.len(), 1);
        assert_eq!(store.entries("b", 0..u64::MAX).await.unwrap().len(), 2);
    });
}

#[test]
fn tables_of_a_different_version_are_refused() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        assert_eq!(store.runs().await.unwrap(), []);
        tamper(&store, "COMMENT ON TABLE runs IS 'cogwork 99'");

        let other = PostgresStore::within(folder.path());
        let error = other.runs().await.unwrap_err();
        assert_eq!(error.kind(), StoreErrorKind::Damaged);
        let error = PostgresStore::told(error, folder.path());
        insta::assert_snapshot!(error, @"STORE: the tables have version `cogwork 99`; expected version `cogwork 4`");
    });
}

#[test]
fn a_server_that_is_not_there_is_reported() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let url = format!("host={} user=nobody", folder.path().display());
    let store = PostgresStore::new(&url).unwrap();

    let error = runtime.block_on(store.runs()).unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Unavailable, "{error}");
    assert!(PostgresStore::new("nonsense").is_err());
}

/// The clock of the test goes on only while nothing else is to do.
#[test]
fn a_worker_waits_between_attempts_however_long_the_server_is_gone() {
    let (sender, ended) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .start_paused(true)
            .build()
            .unwrap();

        runtime.block_on(async {
            let store = PostgresStore::new("host=/nowhere user=nobody").unwrap();
            let shutdown = tokio::time::sleep(Duration::from_secs(30 * 60));
            Worker::new(store).run(shutdown).await;
        });
        sender.send(()).unwrap();
    });

    ended.recv_timeout(Duration::from_secs(60)).unwrap();
}
