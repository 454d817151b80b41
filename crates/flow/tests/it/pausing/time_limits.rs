//! Time limits of waits, and waits in runs with limits.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use cogwork_flow::{Action, CancellationToken, Flow};
use insta::assert_snapshot;
use lines::Lines;
use tokio::time::{Instant, advance};

use super::{Notes, ask, asking, begun, pauses};
use crate::lines;

fn in_time(limit: u64) -> Flow<Notes> {
    Flow::builder("paper")
        .start("review")
        .wait(
            "review",
            ask("word").with_timeout(Duration::from_secs(limit)),
        )
        .end("review", "default")
        .end("review", Action::TIMED_OUT)
        .build()
        .unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_that_passes_leaves_by_its_own_action() {
    let lines = Lines::default();
    for journaled in [false, true] {
        let flow = in_time(60);
        let mut notes = vec![];
        let mut run = begun(&flow, journaled.then(|| lines.journal()));

        let began = pauses(&mut run, &mut notes).await.until.unwrap();
        advance(Duration::from_secs(59)).await;
        assert_eq!(
            pauses(&mut run, &mut notes).await.until.unwrap(),
            began,
            "counted from the first time"
        );

        advance(Duration::from_secs(1)).await;
        assert_eq!(
            run.finish(&mut notes).await.unwrap().action,
            Action::TIMED_OUT
        );
        assert_eq!(notes, [""; 0]);
    }

    let flow = in_time(60);
    let run = flow.begin().with_journal(lines.journal());
    run.deliver("word", &"good").await.unwrap();
    let ended = lines.run(&flow, &mut vec![]).await.unwrap();

    assert_eq!(
        ended.action,
        Action::TIMED_OUT,
        "that it was too late is on record"
    );
}

#[tokio::test(start_paused = true)]
async fn a_time_limit_goes_on_while_the_program_does_not_run() {
    let flow = in_time(3600);
    let lines = Lines::default();
    let began = SystemTime::now();
    let journal = |passed| {
        lines
            .journal()
            .with_time(began + Duration::from_secs(passed))
    };

    let until = pauses(&mut flow.begin().with_journal(journal(0)), &mut vec![])
        .await
        .until
        .unwrap();
    let limit = (began + Duration::from_secs(3600))
        .duration_since(until)
        .unwrap();
    assert!(
        limit < Duration::from_millis(1),
        "the record counts in milliseconds"
    );
    assert_eq!(
        pauses(&mut flow.begin().with_journal(journal(3599)), &mut vec![])
            .await
            .until,
        Some(until)
    );

    let ended = flow
        .begin()
        .with_journal(journal(3601))
        .finish(&mut vec![])
        .await
        .unwrap();

    assert_eq!(ended.action, Action::TIMED_OUT);
}

#[tokio::test(start_paused = true)]
async fn a_pause_and_the_limits_of_a_run() {
    let flow = asking(ask("word"), &Arc::default());
    let mut notes = vec![];
    let error = flow
        .begin()
        .with_max_steps(1)
        .finish(&mut notes)
        .await
        .unwrap_err();

    assert!(
        error.is_step_limit() && error.paused().is_none(),
        "a run that may not step does not wait either"
    );
    assert_eq!(error.node(), "review");

    let text = error.to_string();
    let unchanged = error.into_paused().unwrap_err();
    assert!(unchanged.is_step_limit());
    assert_eq!(unchanged.to_string(), text);

    let start = Instant::now();
    let token = CancellationToken::new();
    let mut notes = vec![];
    let mut run = flow
        .begin()
        .with_deadline(start + Duration::from_secs(10))
        .with_cancellation(token.clone());
    pauses(&mut run, &mut notes).await;
    run.deliver("word", &"good").await.unwrap();
    advance(Duration::from_secs(11)).await;

    let error = run.finish(&mut notes).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run reached its deadline at this node");
    let mut run = run.with_deadline(start + Duration::from_secs(20));
    token.cancel();

    let error = run.finish(&mut notes).await.unwrap_err();
    assert_snapshot!(error, @"flow `paper`, node `review`: the run was cancelled at this node");
    run.with_cancellation(CancellationToken::new())
        .finish(&mut notes)
        .await
        .unwrap();
    assert_eq!(
        notes,
        ["written", "good", "printed"],
        "the answer is not lost"
    );
}
