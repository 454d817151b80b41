use cogwork_flow::{Action, Flow, from_fn};

use crate::each::{FileStore, Tested};
use crate::work::told;
use cogwork_journal::{Fork, RunQuery, StoreErrorKind};

crate::each::for_each_store!(ids_that_not_every_store_can_keep_are_refused);

fn flow() -> Flow<u32> {
    Flow::builder("f")
        .start("n")
        .node("n", from_fn(|_: &mut u32| ()))
        .end("n", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test]
async fn a_file_under_the_name_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow();
    store.start("a\n", &flow, &1).await.unwrap();
    std::fs::copy(store.path("a\n"), store.path("b")).unwrap();

    let error = store.resume("b", &flow).await.unwrap_err();
    assert_eq!(error.kind(), StoreErrorKind::Damaged);
    insta::assert_snapshot!(told(error, folder.path()), @r#"runs/b.jsonl, line 1: this is the run `a\n`, not `b`"#);
}

async fn ids_that_not_every_store_can_keep_are_refused<S: Tested>() {
    let folder = tempfile::tempdir().unwrap();
    let store = S::within(folder.path());
    let flow = flow();
    for id in ["", "a\0b"] {
        let started = store.start(id, &flow, &1).await.unwrap_err();
        let resumed = store.start_or_resume(id, &flow, &1).await.unwrap_err();
        let kinds = [started.kind(), resumed.kind()];
        assert_eq!(kinds, [StoreErrorKind::RunId; 2], "{started}");
        let found = store.query(RunQuery::new().run_id(id)).await.unwrap();
        assert!(found.is_empty());
    }

    drop(store.start("a", &flow, &1).await.unwrap());
    let fork = Fork::at_end().with_run_id("");
    let forked = store.fork("a", &flow, fork).await.unwrap_err();
    insta::assert_snapshot!(forked, @"no run can have the id ``; expected a text without NUL");
}
