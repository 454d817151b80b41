//! A server that is killed and started again while a run is in progress.

use std::time::Duration;

use cogwork_journal::{PostgresStore, StoreErrorKind};

use crate::own_server::OwnServer;
use crate::server::with_server;
use crate::work::{Calls, Work, counted, flow, undisturbed};

#[test]
fn a_run_continues_after_its_server_was_killed() {
    with_server(async {
        let server = OwnServer::start(&["start".as_ref()]);
        let url = format!(
            "host={} user=cogwork dbname=postgres",
            server.socket().display()
        );
        let store = PostgresStore::new(&url)
            .unwrap()
            .with_lease(Duration::from_secs(120));
        let calls = Calls::default();
        let flow = flow(&counted(&calls));
        let journal = store.start("a", &flow, &Work::of(3)).await.unwrap();
        let mut work: Work = journal.state().unwrap();
        let mut run = flow.begin().with_journal(journal);

        for _ in 0..2 {
            run.step(&mut work).await.unwrap();
            server.script(&["kill".as_ref()]);
            assert_ne!(
                store.runs().await.unwrap_err().kind(),
                StoreErrorKind::Damaged
            );
            server.script(&["start".as_ref()]);
        }

        run.finish(&mut work).await.unwrap();
        assert_eq!(work, undisturbed(3).await);
        assert_eq!(calls.lock().unwrap().len(), 9, "no call was made twice");

        let entries = store.entries("a", 0..u64::MAX).await.unwrap();
        assert_eq!(entries.len(), 11, "and none was lost");
    });
}
