//! Answers to runs that nobody executes.

use cogwork_flow::journal::Json;

use super::opens::{Store, ends_with, finish, open, refused};
use crate::conformance::broken_promise::{BrokenPromise, Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT};
use crate::conformance::trial::{Case, unique};
use crate::conformance::{ListedStatus, Open, RefusalKind};

fn waits() -> Result<Case, BrokenPromise> {
    let define = |world: &_| flows::waits_once(world, EVENT);
    Case::new(unique("asks"), define, &[3])
}

pub(super) async fn from_another_process(store: Store) -> Checked {
    let case = waits()?;
    let run_id = &case.attempt.run_id;
    finish(&store, Open::Start, &case).await?;

    let other = store.another_process();
    let misspelt = other.deliver(run_id, "questoin", "5").await;
    refused("a misspelt event", RefusalKind::UnknownEvent, misspelt)?;
    other.deliver(run_id, EVENT, "5").await?;

    let listed = other.list().await?;
    let status = listed.first().map(|run| &run.status);
    equal(
        "the status after the answer",
        &Some(&ListedStatus::Open),
        &status,
    )?;

    let third = store.another_process();
    ends_with("the end", &third, Open::Resume, &case, &[12, 5]).await?;

    let late = other.deliver(run_id, EVENT, "6").await;
    refused("an answer after the end", RefusalKind::Ended, late)
}

/// More than a [`Recorded`](cogwork_flow::journal::Recorded) journal keeps.
const MANY: usize = 2_000;

pub(super) async fn limited(store: Store) -> Checked {
    let case = waits()?;
    let opened = open(&store, Open::Start, &case).await?;

    let mut refused = None;
    for number in 0..MANY {
        let answer = Json::from(number.to_string());
        if let Err(error) = opened.journal.deliver(EVENT, answer).await {
            refused = Some((number, error));
            break;
        }
    }
    drop(opened);

    let at = "answers that aren't used";
    let Some((accepted, _)) = refused else {
        return unexpected(
            at,
            format_args!("a refusal before answer {MANY}"),
            &format_args!("none"),
        );
    };
    if accepted == 0 {
        return unexpected(at, "some answers", &format_args!("a refusal of the first"));
    }

    ends_with(at, &store, Open::Resume, &case, &[12, 0]).await
}
