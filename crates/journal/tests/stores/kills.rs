//! Kills while a store is created. Those of runs at work are in `crates/restate/tests/kills`.

use std::time::Duration;

use proptest::prelude::RngExt;
use proptest::test_runner::{RngAlgorithm, TestRng};

use crate::child::Job;
use crate::each::{SqliteStore, Tested};
use crate::work::{Work, undisturbed};

/// The kill hits anything from before the first line of the program to the middle of the run.
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
