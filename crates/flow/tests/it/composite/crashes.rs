use std::task::Poll;

use cogwork_flow::BoxError;
use cogwork_flow::engine::recorded;

use super::{Made, add_one, composite, flow, run};
use crate::lines::Lines;

/// Polls so many times, and drops the future. Returns its output if it was ready by then.
pub(crate) async fn dropped_after<T>(polls: usize, running: impl Future<Output = T>) -> Option<T> {
    let mut running = std::pin::pin!(running);
    let mut left = polls;
    std::future::poll_fn(|context| {
        left -= 1;
        match running.as_mut().poll(context) {
            Poll::Pending if left == 0 => Poll::Ready(None),
            polled => polled.map(Some),
        }
    })
    .await
}

#[tokio::test]
async fn calls_are_named_by_step_attempt_label_and_number() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = flow(composite(&made, move |made, n| async move {
        let n = add_one(&made, "a/b", n).await?;
        let n = add_one(&made, "c", n).await?;
        add_one(&made, "a/b", n).await
    }));

    assert_eq!(run(&flow, &lines).await.unwrap(), 3);
    insta::assert_snapshot!(lines.text());
    assert_eq!(
        made.keys(),
        ["r:f/n#1.1/a%2Fb.1", "r:f/n#1.1/c.1", "r:f/n#1.1/a%2Fb.2"]
    );
}

/// As recorded before a node became composite.
#[tokio::test]
async fn an_outcome_of_the_whole_step_is_enough() {
    let made = Made::default();
    let lines = Lines::default();
    lines
        .0
        .lock()
        .unwrap()
        .push(serde_json::from_str(r#"{"outcome":{"step":"f/n#1","outcome":41}}"#).unwrap());

    let flow = flow(composite(&made, move |made, n| async move {
        add_one(&made, "add", n).await
    }));

    assert_eq!(run(&flow, &lines).await.unwrap(), 41);
    assert_eq!(made.count(), 0);
}

#[tokio::test]
async fn without_a_journal_the_work_is_just_done() {
    let flow = flow(composite(&Made::default(), |_, n| async move {
        let outcome = recorded("add", || async { Ok::<_, BoxError>(n + 1) });
        Ok(outcome.await?)
    }));

    let mut state = 0;
    flow.run(&mut state).await.unwrap();
    assert_eq!(state, 1);

    let outside = recorded("add", || async { Ok::<_, String>(7) }).await;
    assert_eq!(outside.unwrap(), 7);
}

#[tokio::test]
async fn an_outcome_that_is_too_large_fails_the_step() {
    let lines = Lines::default();
    let flow = flow(composite(&Made::default(), |_, n| async move {
        let outcome = recorded("big", || async { Ok::<_, BoxError>("x".repeat(100)) });
        Ok(outcome.await?.len() as u64 + n)
    }));

    let mut state = 0;
    let error = flow
        .begin()
        .with_journal(lines.journal())
        .with_max_outcome(50)
        .finish(&mut state)
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"flow `f`, node `n`: exec failed: the outcome is larger than the 50 bytes that may be recorded");

    // The next attempt has room for it.
    assert_eq!(run(&flow, &lines).await.unwrap(), 100);
}
