use cogwork_flow::{Action, Flow, from_fn};

use crate::each::FileStore;
use crate::work::told;

fn flow() -> Flow<u32> {
    Flow::builder("f")
        .start("n")
        .node("n", from_fn(|_: &mut u32| ()))
        .end("n", Action::DEFAULT)
        .build()
        .unwrap()
}

#[tokio::test]
async fn any_run_id_is_a_safe_file_name() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path().join("runs"));
    let flow = flow();
    let long = "ü".repeat(10_000);
    let longer = format!("{long}.");
    let ids = [
        "order-17",
        "",
        ".",
        "..",
        "../../etc/passwd",
        "/",
        ".hidden",
        "a.b",
        "A",
        "a",
        "con",
        "con.txt",
        "lpt1",
        "com10",
        "console",
        "%",
        "a%20b",
        "a b",
        "line\nline",
        "nul\0",
        "\\",
        "x.jsonl",
        "x.lock",
        "x",
        "日本",
        &long,
        &longer,
    ];

    let mut names = Vec::new();
    for id in ids {
        let journal = store.start(id, &flow, &id).await.unwrap();
        assert_eq!(cogwork_flow::journal::Journal::run_id(&journal), id);
        drop(journal);
        let journal = store.resume(id, &flow).await.unwrap();

        assert_eq!(journal.input::<String>().unwrap(), id);
        assert_eq!(
            store.path(id).parent(),
            Some(folder.path().join("runs").as_path())
        );
        names.push(
            store
                .path(id)
                .file_name()
                .unwrap()
                .to_str()
                .unwrap()
                .to_owned(),
        );
    }

    insta::assert_snapshot!(names.join("\n"), @r#"
    order-17.jsonl
    %.jsonl
    %2e.jsonl
    %2e..jsonl
    %2e.%2f..%2fetc%2fpasswd.jsonl
    %2f.jsonl
    %2ehidden.jsonl
    a.b.jsonl
    %41.jsonl
    a.jsonl
    %63on.jsonl
    %63on.txt.jsonl
    %6cpt1.jsonl
    com10.jsonl
    console.jsonl
    %25.jsonl
    a%2520b.jsonl
    a%20b.jsonl
    line%0aline.jsonl
    nul%00.jsonl
    %5c.jsonl
    x.jsonl.jsonl
    x.lock.jsonl
    x.jsonl
    %e6%97%a5%e6%9c%ac.jsonl
    %c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc~ae61542ab7ba3da5.jsonl
    %c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc%c3%bc~099f8f9631769331.jsonl
    "#);

    let mut listed: Vec<_> = store
        .runs()
        .await
        .unwrap()
        .into_iter()
        .map(|run| run.run_id)
        .collect();

    let mut started = ids.map(str::to_owned).to_vec();
    started.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, started);

    let around: Vec<_> = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(around, ["runs"]);
}

#[tokio::test]
async fn a_file_under_the_name_of_another_run_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let flow = flow();
    store.start("a\n", &flow, &1).await.unwrap();
    std::fs::copy(store.path("a\n"), store.path("b")).unwrap();

    let error = store.resume("b", &flow).await.unwrap_err();
    assert!(error.is_damaged());
    insta::assert_snapshot!(told(error, folder.path()), @r#"runs/b.jsonl, line 1: this is the run `a\n`, not `b`"#);
}
