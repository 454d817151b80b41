//! Messages from other runs.

use std::num::NonZeroU64;

use cogwork_flow::journal::{ChannelMessage, Origin};

use super::opens::{Store, end, finish, open, take_steps};
use crate::broken_promise::{BrokenPromise, Checked, equal};
use crate::flows::{self, EVENT};
use crate::trial::{Case, unique};
use crate::{Open, Opened};

/// A run that uses three messages.
fn sums() -> Result<Case, BrokenPromise> {
    let define = |world: &_| flows::sums(world, 5);
    Case::new(unique("messages"), define, &[3, 1])
}

/// Delivers a message from a step with this number.
async fn deliver(opened: &Opened, body: &str, number: u64) -> Checked {
    let from = Origin {
        run: "a: sender".to_owned(),
        step: format!("sender/send#{number}"),
        number,
    };
    let message = ChannelMessage::Sent {
        body: body.as_bytes().to_vec(),
        from: Some(from),
    };

    let stored = opened.journal.deliver_message(EVENT, message).await;
    let at = format!("message {number}");
    stored.map_err(|error| BrokenPromise::new(at, "a stored message", error))
}

pub(super) async fn sent_again(store: Store) -> Checked {
    let case = sums()?;
    let opened = open(&store, Open::Start, &case).await?;
    deliver(&opened, "5", 2).await?;
    deliver(&opened, "5", 2).await?;
    deliver(&opened, "6", 4).await?;
    drop(opened);

    // Not used yet, and known from the record.
    let opened = open(&store, Open::Resume, &case).await?;
    deliver(&opened, "6", 4).await?;
    drop(opened);

    // Two steps use the messages.
    take_steps(&store, Open::Resume, &case, 3).await?;
    let opened = open(&store, Open::Resume, &case).await?;
    deliver(&opened, "6", 4).await?;
    deliver(&opened, "7", 6).await?;
    drop(opened);

    let stopped = finish(&store, Open::Resume, &case).await?;
    equal("the end", &vec![6, 1, 5, 6, 7], &end("the end", stopped)?)
}

pub(super) async fn folded(store: Store) -> Checked {
    let case = sums()?;
    let opened = open(&store, Open::Start, &case).await?;
    deliver(&opened, "5", 2).await?;
    deliver(&opened, "6", 4).await?;

    // The last of the snapshots replaces both messages.
    let mut state = opened.state;
    let run = case.attempt.flow.begin().with_journal(opened.journal);
    let mut run = run.with_fold_every(NonZeroU64::MIN);
    for _ in 0..3 {
        let step = run.step(&mut state).await;
        step.map_err(|error| BrokenPromise::new("a step", "success", error))?;
    }
    drop(run);

    let opened = open(&store, Open::Resume, &case).await?;
    equal(
        "the state in the snapshot",
        &vec![6, 1, 5, 6],
        &opened.state,
    )?;
    deliver(&opened, "6", 4).await?;
    deliver(&opened, "7", 6).await?;
    drop(opened);

    let stopped = finish(&store, Open::Resume, &case).await?;
    equal("the end", &vec![6, 1, 5, 6, 7], &end("the end", stopped)?)
}

pub(super) async fn stored(store: Store) -> Checked {
    let case = sums()?;
    for (number, body) in [(1, "5"), (2, "6"), (3, "7")] {
        let how = if number == 1 {
            Open::Start
        } else {
            Open::Resume
        };
        let opened = open(&store, how, &case).await?;
        deliver(&opened, body, number).await?;
    }

    let other = store.another_process();
    let stopped = finish(&other, Open::Resume, &case).await?;
    equal("the end", &vec![6, 1, 5, 6, 7], &end("the end", stopped)?)
}
