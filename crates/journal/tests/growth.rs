//! Twice as many steps that wait take twice the writing. Work is counted in the bytes that this
//! process writes, so nothing else may run in it: there is one test.

#![cfg(all(target_os = "linux", feature = "sqlite"))]
#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_flow::{Action, Each, Flow, Wait};
use cogwork_journal::{RunStatus, Store};

/// How many bytes the process has written so far, to whatever file.
fn written() -> u64 {
    let counts = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = counts
        .lines()
        .find_map(|line| line.strip_prefix("wchar: "))
        .unwrap();
    line.parse().unwrap()
}

/// A question for each of many items, one item after the other.
fn items() -> Flow<Vec<u32>> {
    let question = Flow::builder("item")
        .start("ask")
        .wait(
            "ask",
            Wait::for_event("word", |item: &mut u32, word: u32| *item = word),
        )
        .end("ask", Action::DEFAULT)
        .build()
        .unwrap();

    let each = Each::at_most(
        1,
        question,
        |all: &Vec<u32>| all.clone(),
        |all, done| *all = done,
    );

    Flow::builder("items")
        .start("each")
        .each("each", each)
        .end("each", Action::DEFAULT)
        .build()
        .unwrap()
}

/// Lets so many items wait, and answers each; answers how much that wrote.
async fn ask_and_answer(store: Store, count: usize) -> u64 {
    let flow = items();
    let before = written();
    let journal = store.start("a", &flow, &0).await.unwrap();
    let mut run = flow.begin().with_max_steps(u64::MAX).with_journal(journal);
    let mut all = vec![0; count];

    let stopped = run.finish(&mut all).await.unwrap_err();
    assert!(stopped.paused().is_some());
    let run_that_waits = store.runs().await.unwrap().pop().unwrap();
    let RunStatus::Paused { waits } = run_that_waits.status else {
        unreachable!("not paused")
    };

    assert_eq!(waits.len(), count);

    for word in 0..count {
        run.deliver("word", &word).await.unwrap();
    }

    run.finish(&mut all).await.unwrap();
    assert!(all.into_iter().eq(0..u32::try_from(count).unwrap()));
    written() - before
}

#[test]
fn writing_grows_with_the_steps_that_wait() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for name in ["files", "database"] {
        let [few, many] = [100, 400].map(|count| {
            let folder = tempfile::tempdir().unwrap();
            runtime.block_on(async {
                let store = match name {
                    "files" => Store::files(folder.path()),
                    _ => Store::sqlite(folder.path().join("runs.db")),
                };
                ask_and_answer(store, count).await
            })
        });

        let times = many as f64 / few as f64;
        println!("{name}: {few} bytes, {many} bytes, {times:.1} times");
        assert!(
            times < 6.0,
            "{name}: four times the steps took {times:.1} times the writing"
        );
    }
}
