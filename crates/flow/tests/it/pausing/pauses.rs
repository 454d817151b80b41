//! What is known of a pause, inside and outside the process.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use cogwork_flow::engine::MemoryJournal;
use insta::assert_snapshot;
use lines::Lines;

use super::{ask, asking, begun, pauses};
use crate::lines;

#[tokio::test]
async fn a_pause_says_where_why_and_for_what() {
    let calls = Arc::default();
    let flow = asking(
        ask("word").with_reason(|notes| format!("{} note waits", notes.len())),
        &calls,
    );
    for journaled in [false, true] {
        let mut run = begun(&flow, journaled.then(|| MemoryJournal::new("r")));
        let mut notes = vec![];

        let paused = pauses(&mut run, &mut notes).await;
        assert_eq!(
            paused.to_string(),
            "paused at paper/review#2 for the event `word`: 1 note waits"
        );
        assert_eq!(
            (paused.event.as_str(), paused.why.as_str(), paused.until),
            ("word", "1 note waits", None)
        );
        assert_eq!(
            (paused.step.node.as_str(), run.node(), run.steps()),
            ("review", Some("review"), 1)
        );

        let made = calls.load(Ordering::SeqCst);
        for _ in 0..3 {
            assert_eq!(
                pauses(&mut run, &mut notes).await,
                paused,
                "it stays where it is"
            );

            let error = run.step(&mut notes).await.unwrap_err();
            assert_eq!(error.paused(), Some(&paused), "a step pauses the same way");
            assert_eq!(error.into_paused().unwrap(), paused);
        }

        assert_eq!((calls.load(Ordering::SeqCst), run.steps()), (made, 1));
        run.deliver("word", &"good").await.unwrap();
        assert_eq!(run.finish(&mut notes).await.unwrap().steps, 3);
        assert_eq!(notes, ["written", "good", "printed"]);
    }

    assert_eq!(calls.load(Ordering::SeqCst), 4, "two in each run");
}

#[tokio::test]
async fn a_pause_outlives_the_process() {
    let calls = Arc::default();
    let lines = Lines::default();
    let flow = asking(ask("word"), &calls);
    pauses(&mut flow.begin().with_journal(lines.journal()), &mut vec![]).await;
    pauses(&mut flow.begin().with_journal(lines.journal()), &mut vec![]).await;
    flow.begin()
        .with_journal(lines.journal())
        .deliver("word", &"good")
        .await
        .unwrap();

    for _ in 0..2 {
        let mut notes = vec![];
        lines.run(&flow, &mut notes).await.unwrap();

        assert_eq!(notes, ["written", "good", "printed"]);
    }

    assert_eq!(calls.load(Ordering::SeqCst), 2);
    assert_snapshot!(lines.text(), @r#"
    {"began":{"state":[16982195136722788476,16982195136722788476]}}
    {"outcome":{"step":"paper/write#1","outcome":"written"}}
    {"waiting":{"step":"paper/review#2","event":"word","until":null}}
    "paused"
    {"answer":{"event":"word","answer":"good"}}
    {"taken":{"step":"paper/review#2","event":"word"}}
    {"outcome":{"step":"paper/print#3","outcome":"printed"}}
    {"ended":{"action":"default","steps":3}}
    "#);
}

#[tokio::test]
async fn finish_says_that_the_run_pauses() {
    let flow = asking(
        ask("word").with_reason(|_| "who\nreads it?".to_owned()),
        &Arc::default(),
    );
    let error = flow.run(&mut vec![]).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run waits for the event `word`: who reads it?");
    assert_eq!(error.paused().unwrap().event, "word");
    assert_eq!(
        (error.is_journal(), error.is_panic(), error.phase()),
        (false, false, None)
    );
}
