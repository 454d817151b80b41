use cogwork_flow::{Action, Flow, from_fn};

use crate::each::FileStore;
use crate::work::told;
use cogwork_journal::StoreErrorKind;

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
