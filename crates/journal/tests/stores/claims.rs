//! Claims that fail halfway.

use std::sync::Arc;

use cogwork_journal::{Enqueue, PostgresStore, QueueLimits, RunStatus, Store, Worker};

use crate::each::Tested;
use crate::server::{tamper, with_server};
use crate::work::{Calls, Work, counted, flow};

#[test]
fn a_queue_that_fails_does_not_hold_back_the_runs_of_others() {
    with_server(async {
        let folder = tempfile::tempdir().unwrap();
        let store = PostgresStore::within(folder.path());
        let flow = Arc::new(flow(&counted(&Calls::default())));
        for queue in ["free", "limited"] {
            let settings = Enqueue::new().with_queue(queue);
            let enqueued = store.enqueue(queue, &flow, &Work::of(1), settings).await;
            enqueued.unwrap();
        }

        // The limits cannot be read.
        let limits = QueueLimits::new().with_max_running(1);
        store.limit_queue("limited", limits).await.unwrap();
        tamper(&store, "ALTER TABLE queues RENAME max_running TO renamed");

        let worker = Worker::new(store.clone())
            .with_flow(Arc::clone(&flow))
            .with_queue("free")
            .with_queue("limited");
        let working = tokio::spawn(worker.run(std::future::pending()));

        // Otherwise, it would wait until its lease expires.
        let has_ended = async {
            while !matches!(status(&store, "free").await, RunStatus::Ended { .. }) {
                tokio::task::yield_now().await;
            }
        };
        let patience = PostgresStore::DEFAULT_LEASE / 2;
        tokio::time::timeout(patience, has_ended).await.unwrap();
        working.abort();
    });
}

async fn status(store: &PostgresStore, run_id: &str) -> RunStatus {
    let runs = store.runs().await.unwrap();
    let run = runs.into_iter().find(|run| run.run_id == run_id);
    run.unwrap().status
}
