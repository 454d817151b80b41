//! Which answers are accepted, and when they may come.

use std::sync::Arc;

use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::{Action, Flow, Wait};
use insta::assert_snapshot;
use lines::Lines;

use super::{Notes, ask, asking, begun, note, pauses};
use crate::lines;

/// Asks until the answer is the last one.
fn interview() -> Flow<Notes> {
    let next = Wait::for_event("answer", |notes: &mut Notes, answer: String| {
        let action = Action::from_static(if answer == "that is all" {
            "done"
        } else {
            "next"
        });

        notes.push(answer);
        action
    });
    Flow::builder("interview")
        .start("ask")
        .wait("ask", next.with_actions(["next", "done"]))
        .edge("ask", "next", "ask")
        .end("ask", "done")
        .build()
        .unwrap()
}

#[tokio::test]
async fn answers_are_taken_once_and_the_oldest_first() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let flow = interview();
        let mut notes = vec![];
        let mut run = begun(&flow, journaled.then(|| lines.journal()));

        run.deliver("answer", &"one").await.unwrap();
        run.deliver("answer", &"two").await.unwrap();
        assert_eq!(pauses(&mut run, &mut notes).await.step.number, 3);
        assert_eq!(
            notes,
            ["one", "two"],
            "answers may come before the run asks"
        );

        run.deliver("answer", &"one").await.unwrap();
        assert_eq!(pauses(&mut run, &mut notes).await.step.number, 4);
        run.deliver("answer", &"that is all").await.unwrap();
        run.deliver("answer", &"too late").await.unwrap();
        assert_eq!(run.finish(&mut notes).await.unwrap().steps, 4);
        assert_eq!(notes, ["one", "two", "one", "that is all"]);
    }

    let mut notes = vec![];
    lines.run(&interview(), &mut notes).await.unwrap();

    assert_eq!(notes, ["one", "two", "one", "that is all"]);
}

#[tokio::test]
async fn an_event_that_nobody_waits_for_is_refused() {
    let flow = asking(ask("word"), &Arc::default());
    let run = flow.begin();
    let error = run.deliver("wrod", &"good").await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `write`: nothing waits for the event `wrod`; the nodes wait for `word`");

    let flow = Flow::builder("f")
        .node("n", note("n", &Arc::default()))
        .chain(["n"]);
    let error = flow
        .build()
        .unwrap()
        .begin()
        .deliver("word", &"good")
        .await
        .unwrap_err();

    assert_snapshot!(error, @"flow `f`, node `n`: nothing waits for the event `word`; the nodes wait for none");
}

#[tokio::test]
async fn an_answer_that_cannot_be_used_is_refused_and_another_may_come() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let is_word = |word: &String| match word.as_str() {
            "no" => Err("expected another word".to_owned()),
            _ => Ok(()),
        };
        let flow = asking(ask("word").with_check(is_word), &Arc::default());
        let mut notes = vec![];
        let mut run = begun(&flow, journaled.then(|| lines.journal()));

        let refused = run.deliver("word", &"no").await.unwrap_err();
        let told =
            "flow `paper`, node `write`: the answer to `word` can't be used: expected another word";
        assert_eq!(refused.to_string(), told);
        let refused = run.deliver("word", &7).await.unwrap_err();
        let told = "flow `paper`, node `write`: the answer to `word` can't be used: the answer cannot be read: \
                    invalid type: integer `7`, expected a string at line 1 column 1";
        assert_eq!(refused.to_string(), told);
        assert!(!refused.is_journal());

        pauses(&mut run, &mut notes).await;
        run.deliver("word", &"good").await.unwrap();
        run.finish(&mut notes).await.unwrap();
        assert_eq!(notes, ["written", "good", "printed"]);
    }
}

#[tokio::test]
async fn answers_have_a_size_and_a_number() {
    let flow = interview();
    let lines = Lines::default();
    let run = flow
        .begin()
        .with_max_outcome(6)
        .with_journal(lines.journal());
    let error = run.deliver("answer", &"12345").await.unwrap_err();
    assert_snapshot!(error, @"flow `interview`, node `ask`: the journal failed: the outcome is larger than the 6 bytes that may be recorded");

    for _ in 0..1000 {
        run.deliver("answer", &"1234").await.unwrap();
    }

    let error = run.deliver("answer", &"1234").await.unwrap_err();
    assert_snapshot!(error, @"flow `interview`, node `ask`: the journal failed: there already are 1000 unused answers to `answer`");
    assert_eq!(lines.all().len(), 1000, "what is refused is not on record");
    let mut notes = vec![];

    pauses(&mut flow.begin().with_journal(lines.journal()), &mut notes).await;
    assert_eq!(notes.len(), 1000);
}

#[tokio::test]
async fn an_answer_that_the_closure_refuses_stays_with_its_step() {
    let lines = Lines::default();
    let picky = Wait::for_event("word", |notes: &mut Notes, word: String| {
        match word.as_str() {
            "good" => Err(format!("cannot use {word} after {} notes", notes.len()).into()),
            _ => Ok(()),
        }
    });

    let flow = asking(picky, &Arc::default());
    for journaled in [false, true] {
        let mut run = begun(&flow, journaled.then(|| lines.journal()));
        let mut notes = vec![];

        run.deliver("word", &"good").await.unwrap();
        run.deliver("word", &"other").await.unwrap();
        for _ in 0..2 {
            let error = run.finish(&mut notes).await.unwrap_err();
            assert_eq!(
                error.to_string(),
                "flow `paper`, node `review`: post failed: cannot use good after 1 notes"
            );
        }
    }

    // A new version of the program can: the answer is on record as taken by this step.
    let mut notes = vec![];
    asking(ask("word"), &Arc::default())
        .begin()
        .with_journal(lines.journal())
        .finish(&mut notes)
        .await
        .unwrap();

    assert_eq!(notes, ["written", "good", "printed"]);
}

#[tokio::test]
async fn an_answer_after_the_end_is_refused() {
    let flow = asking(ask("word"), &Arc::default());
    let mut run = flow.begin().with_journal(MemoryJournal::new("r"));
    let mut notes = vec![];

    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    run.finish(&mut notes).await.unwrap();

    let refused = run.deliver("word", &"better").await.unwrap_err();
    assert_snapshot!(refused, @"flow `paper`: the run has ended, so nothing waits for the event `word`");
}
