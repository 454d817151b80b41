use cogwork_flow::{Action, Flow, from_fn};

use crate::each::FileStore;
use crate::work::{greeting, told};

#[tokio::test]
async fn runs_are_listed_as_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    assert_eq!(store.runs().await.unwrap(), []);
    assert_eq!(
        FileStore::new(folder.path().join("none"))
            .runs()
            .await
            .unwrap(),
        []
    );

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

    std::fs::write(folder.path().join("foreign.jsonl"), "{}\n").unwrap();
    let damaged = store.path("damaged");
    store.start("damaged", &failing, &1).await.unwrap();
    let mut text = std::fs::read_to_string(&damaged).unwrap();

    text.push_str("{}\n");
    std::fs::write(&damaged, text).unwrap();

    // A line that is being written.
    let running = store.path("running");
    store.start("running", &failing, &1).await.unwrap();
    let mut text = std::fs::read_to_string(&running).unwrap();
    text.push_str(r#"{"outcome":"#);
    std::fs::write(&running, text).unwrap();

    let runs = store.runs().await.unwrap();
    let now = std::time::SystemTime::now();
    let lines = runs.iter().map(|run| {
        let ago = now.duration_since(run.started).unwrap();
        assert!(run.flow.is_empty() || ago.as_secs() < 600, "{ago:?}");
        let line = format!(
            "{}: {} with {} entries, {:?}",
            run.run_id, run.flow, run.entries, run.status
        );

        told(line, folder.path())
    });

    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"), @r#"
    Open: failing with 0 entries, Open { waits: [] }
    answered: greeting with 4 entries, Open { waits: [] }
    damaged: failing with 0 entries, Damaged { error: "runs/damaged.jsonl, line 2: the line does not begin with a checksum, as in `0a1b2c3d […]`" }
    ended: greeting with 6 entries, Ended { action: "default", steps: 1 }
    failed: failing with 3 entries, Failed { error: "flow `failing`, node `fail`: post failed: no luck" }
    foreign:  with 0 entries, Damaged { error: "runs/foreign.jsonl, line 1: this isn't the journal of a run; expected a line such as `0a1b2c3d {\"cogwork_journal\":1,`" }
    paused: greeting with 3 entries, Paused { waits: [WaitSummary { step: "greeting/ask#1", event: "name", why: "whom to say  to", until: None, schema: None }] }
    running: failing with 0 entries, Open { waits: [] }
    "#);
}

#[tokio::test]
async fn a_run_that_waits_says_until_when() {
    use std::time::{Duration, SystemTime};

    let wait = cogwork_flow::Wait::for_event("word", |_: &mut u32, _: u32| ())
        .with_reason(|n| format!("{n} wants a word"))
        .with_timeout(Duration::from_secs(3_600));
    let flow = Flow::builder("f")
        .start("w")
        .wait("w", wait)
        .end("w", Action::DEFAULT)
        .end("w", cogwork_flow::Action::TIMED_OUT)
        .build()
        .unwrap();

    let folder = tempfile::tempdir().unwrap();
    let store = FileStore::new(folder.path());
    let journal = store.start("a", &flow, &1).await.unwrap();
    flow.begin()
        .with_journal(journal)
        .finish(&mut 1)
        .await
        .unwrap_err();

    let runs = store.runs().await.unwrap();
    let cogwork_journal::RunStatus::Paused { waits } = &runs[0].status else {
        panic!("{runs:?}")
    };

    assert_eq!(
        (waits[0].event.as_str(), waits[0].why.as_str()),
        ("word", "1 wants a word")
    );
    let left = waits[0]
        .until
        .unwrap()
        .duration_since(SystemTime::now())
        .unwrap();

    assert!(
        left <= Duration::from_secs(3_601) && left > Duration::from_secs(3_000),
        "{left:?}"
    );
}
