use std::time::Duration;

use cogwork_flow::engine::{CannotWait, Journal, Json, recorded, scoped_event, wait_for};
use cogwork_flow::{BoxError, Flow, from_phases};

use super::{Made, add_one, composite, flow, outcomes, run};
use crate::lines::Lines;

/// Adds one, waits for a number, and adds it.
fn asking(made: &Made, timeout: Option<Duration>) -> Flow<u64> {
    flow(composite(made, move |made, n| async move {
        let n = add_one(&made, "before", n).await?;
        let answer = wait_for::<u64>("how many", "to be added", timeout, None).await?;
        add_one(&made, "after", n + answer.unwrap_or(100)).await
    }))
}

async fn deliver(lines: &Lines, event: &str, answer: &str) {
    let journal = lines.journal();
    journal
        .deliver(event, Json::from_record(answer))
        .await
        .unwrap();
}

#[tokio::test]
async fn the_run_pauses_and_continues_with_the_answer() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = asking(&made, None);

    for _ in 0..2 {
        let paused = run(&flow, &lines).await.unwrap_err().into_paused().unwrap();
        assert_eq!(
            paused.to_string(),
            "paused at f/n#1.1/how many.1 for the event `how many`: to be added"
        );
    }

    deliver(&lines, "how many", "5").await;
    assert_eq!(run(&flow, &lines).await.unwrap(), 7);
    assert_eq!(made.count(), 2);
    insta::assert_snapshot!(lines.text());
}

#[tokio::test]
async fn the_run_itself_can_deliver_the_answer() {
    let made = Made::default();
    let flow = asking(&made, None);
    let lines = Lines::default();
    let mut state = 0;
    let mut run = flow.begin().with_journal(lines.journal());

    let early = run.deliver("how many", &5).await.unwrap_err();
    insta::assert_snapshot!(early, @"flow `f`, node `n`: nothing waits for the event `how many`; the nodes wait for none");

    let error = run.finish(&mut state).await.unwrap_err();
    assert!(error.paused().is_some());
    run.deliver("how many", &5).await.unwrap();
    run.finish(&mut state).await.unwrap();
    assert_eq!(state, 7);
}

#[tokio::test]
async fn calls_in_progress_end_before_the_run_pauses() {
    let made = Made::default();
    let lines = Lines::default();
    let flow = flow(composite(&made, move |made, n| async move {
        let one = async {
            let event = scoped_event("one");
            let one = wait_for::<u64>(&event, "", None, None).await?;
            add_one(&made, "one", one.unwrap_or_default()).await
        };
        let two = async {
            let two = wait_for::<u64>(&scoped_event("two"), "", None, None).await?;
            Ok(two.unwrap_or_default())
        };
        let more = async {
            let n = add_one(&made, "more", n).await?;
            tokio::task::yield_now().await;
            add_one(&made, "more", n).await
        };

        let all = tokio::try_join!(one, two, more)?;
        Ok(all.0 + all.1 + all.2)
    }));

    let paused = run(&flow, &lines).await.unwrap_err().into_paused().unwrap();
    assert_eq!(paused.event, "one at f/n#1.1");
    assert_eq!(paused.also.len(), 1);
    assert_eq!(paused.also[0].event, "two at f/n#1.1");
    assert_eq!(outcomes(&lines), ["f/n#1.1/more.1", "f/n#1.1/more.2"]);

    deliver(&lines, "one at f/n#1.1", "10").await;
    let paused = run(&flow, &lines).await.unwrap_err().into_paused().unwrap();
    assert_eq!(paused.event, "two at f/n#1.1");

    deliver(&lines, "two at f/n#1.1", "20").await;
    assert_eq!(run(&flow, &lines).await.unwrap(), 33);
    assert_eq!(made.count(), 3);
}

#[tokio::test]
async fn a_wait_needs_a_journal_and_a_composite_node() {
    assert_eq!(
        wait_for::<u64>("e", "", None, None).await,
        Err(CannotWait::NoJournal)
    );

    let made = Made::default();
    let mut state = 0;
    let waiting = flow(composite(&Made::default(), |_, _| async {
        wait_for::<u64>("e", "", None, None).await?;
        Ok(0)
    }));
    let error = waiting.run(&mut state).await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `f`, node `n`: exec failed: a wait inside `exec` needs a journal; give the run one with `Run::with_journal`, and don't wait in spawned tasks");

    let plain = flow(from_phases(
        |_: &mut u64| (),
        |()| async {
            wait_for::<u64>("e", "", None, None).await?;
            Ok::<_, CannotWait>(())
        },
        |_, ()| (),
    ));
    let error = run(&plain, &Lines::default()).await.unwrap_err();
    insta::assert_snapshot!(error, @"flow `f`, node `n`: exec failed: a wait inside `exec` needs a composite node, and cannot be inside a recorded call; return `true` from `Node::is_composite`");

    let nested = flow(composite(&Made::default(), |_, n| async move {
        let outcome = recorded("outer", || async {
            wait_for::<u64>("e", "", None, None).await?;
            Ok::<_, BoxError>(n)
        });
        Ok(outcome.await?)
    }));
    let error = run(&nested, &Lines::default()).await.unwrap_err();
    assert!(
        error.to_string().contains("needs a composite node"),
        "{error}"
    );
    assert_eq!(made.count(), 0);
}
