//! A server that is gone, hangs, or cannot write.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use cogwork_journal::{PostgresStore, RunQuery, StoreErrorKind, Worker};

use crate::each::Tested;
use crate::proxy::{Network, Proxy};
use crate::server::{schema, tamper, with_server};
use crate::work::{Call, Calls, Work, counted, flow, undisturbed};

/// How long a statement may take, which is a third of the lease. Machines on which tests run are slow.
const TIMEOUT: Duration = Duration::from_secs(2);

impl Proxy {
    fn store(&self, folder: &Path) -> PostgresStore {
        PostgresStore::new(&self.url())
            .unwrap()
            .with_schema(schema(folder))
            .with_lease(3 * TIMEOUT)
            .with_max_connections(2)
    }
}

/// Breaks the network in the middle of a run, and repairs it after a while.
async fn survives(broken: Network) {
    let folder = tempfile::tempdir().unwrap();
    let proxy = Proxy::start();
    let direct = PostgresStore::within(folder.path());
    assert_eq!(direct.runs().await.unwrap(), [], "the tables exist");

    let store = proxy.store(folder.path());
    let calls = Calls::default();
    let flow = flow(&counted(&calls));
    let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
    let mut work: Work = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.step(&mut work).await.unwrap();

    proxy.set(broken);
    let repaired = async {
        tokio::time::sleep(TIMEOUT + Duration::from_millis(300)).await;
        proxy.set(Network::Works);
    };
    let (ended, ()) = tokio::join!(run.finish(&mut work), repaired);

    ended.unwrap();
    assert_eq!(work, undisturbed(3).await);
    assert_eq!(calls.lock().unwrap().len(), 9, "no call is made twice");
}

#[test]
fn a_run_survives_a_network_that_is_cut_for_a_while() {
    with_server(survives(Network::IsCut));
}

#[test]
fn a_run_survives_a_network_that_hangs_for_a_while() {
    with_server(survives(Network::Hangs));
}

#[test]
fn a_slow_network_only_delays_a_run() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let proxy = Proxy::start();
        proxy.set(Network::IsSlow);
        let store = proxy.store(folder.path());
        let store = store.with_lease(30 * TIMEOUT);
        let calls = Calls::default();
        let flow = flow(&counted(&calls));
        let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
        let mut work: Work = journal.state().unwrap();

        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(3).await);
        assert_eq!(calls.lock().unwrap().len(), 9);
    });
}

#[test]
fn a_run_stops_with_an_error_if_the_network_stays_cut() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let proxy = Proxy::start();
        let store = proxy.store(folder.path());
        let store = store.with_lease(Duration::from_secs(1));
        let flow = flow(&counted(&Calls::default()));
        let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
        let mut work: Work = journal.state().unwrap();

        proxy.set(Network::IsCut);
        let error = flow.begin().with_journal(journal).finish(&mut work).await;
        assert!(error.unwrap_err().is_journal());
        assert_eq!(
            store.runs().await.unwrap_err().kind(),
            StoreErrorKind::Unavailable
        );

        proxy.set(Network::Works);
        assert_eq!(store.runs().await.unwrap().len(), 1);
    });
}

#[test]
fn a_server_that_cannot_write_stops_the_run_and_nothing_is_lost() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let calls = Calls::default();
        let flow = flow(&counted(&calls));
        let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.step(&mut work).await.unwrap();

        // The error that PostgreSQL reports for a full disk.
        tamper(
            &store,
            "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
                 $$ BEGIN RAISE 'could not extend file' USING ERRCODE = 'disk_full'; END $$;
             CREATE TRIGGER full_disk BEFORE INSERT ON lines EXECUTE FUNCTION full_disk()",
        );
        let error = run.finish(&mut work).await.unwrap_err();
        assert!(error.is_journal());
        let text = format!("{:#}", with_sources(&error));
        assert!(
            text.contains("could not extend file (SQLSTATE 53100)"),
            "{text}"
        );
        drop(run);

        tamper(&store, "DROP TRIGGER full_disk ON lines");
        let journal = store.resume("a", &flow).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);
        run.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(3).await);

        // The call whose outcome could not be written was made again, and no other.
        assert_eq!(calls.lock().unwrap().len(), 10);
    });
}

/// An error with its sources, in one line.
fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text.push_str(&format!(": {error}"));
        source = error.source();
    }
    text
}

#[test]
fn a_worker_waits_for_a_database_that_is_gone() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let proxy = Proxy::start();
        let direct = PostgresStore::within(folder.path());
        let calls = Calls::default();
        let flow = Arc::new(flow(&counted(&calls)));
        proxy.set(Network::IsCut);

        let worker = Worker::new(proxy.store(folder.path())).with_flow(Arc::clone(&flow));
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let worker = tokio::spawn(worker.run(async { drop(stopped.await) }));

        proxy.connected(3).await;
        let input = Work::of(2);
        let enqueued = direct.enqueue("a", &flow, &input);
        enqueued.await.unwrap();
        proxy.set(Network::Works);

        let ended = || direct.query(RunQuery::new().ended());
        while ended().await.unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        drop(stop);
        worker.await.unwrap();
        assert_eq!(calls.lock().unwrap().len(), 6);
    });
}

#[test]
fn only_the_clock_of_the_database_counts() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let forever: Call = Arc::new(|_| Box::pin(std::future::pending()));
        let flow = flow(&forever);

        // The start and the lease of a run, as this machine could not have set them.
        let journal = store.start("a", &flow, &Work::of(1)).await.unwrap();
        tamper(&store, "UPDATE runs SET wake = wake + interval '1 year'");
        let other = PostgresStore::within(folder.path());
        assert_eq!(
            other.resume("a", &flow).await.unwrap_err().kind(),
            StoreErrorKind::InUse
        );
        tamper(&store, "UPDATE runs SET wake = wake - interval '2 years'");
        other.resume("a", &flow).await.unwrap();
        drop(journal);
    });
}
