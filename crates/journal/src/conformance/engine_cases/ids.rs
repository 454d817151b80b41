//! Texts that are hard to store or to send.

use std::collections::BTreeSet;

use super::answers::until_state;
use crate::conformance::broken_promise::{Checked, equal, unexpected};
use crate::conformance::flows::{self, EVENT};
use crate::conformance::trial::{Trial, unique};
use crate::conformance::{Stopped, TestedEngine};

/// Texts that differ little, or that mean something to a file system, a database, a server or a
/// terminal.
pub(crate) fn hostile() -> Vec<String> {
    let long = "long ".repeat(400);
    let longer = format!("{long}.");
    let alike = "a A a/b a%2Fb a%2fb a+b ä a\u{308} nul nul\0nul % %25 . ..".split(' ');
    let special = [
        "order-17",
        "",
        " ",
        "a b",
        "../../etc/passwd",
        "/",
        ".hidden",
        "con",
        "nul.txt",
        "?a=b#c",
    ];
    let quoted = [
        "'; DROP TABLE runs; --",
        "\"quoted\"",
        "{\"json\":1}",
        "\\",
        "a:b#1",
    ];
    let shown = [
        "line\nline",
        "line\r\nline",
        "\u{1b}[2J",
        "日本",
        "🦀",
        &long,
        &longer,
    ];

    let texts = alike.chain(special).chain(quoted).chain(shown);
    texts.map(str::to_owned).collect()
}

/// Runs with hostile ids, each with an input of its own, are all waiting before the first continues.
pub(super) async fn of_runs(engine: &dyn TestedEngine) -> Checked {
    let mut trials = Vec::new();
    let mut number = 0;

    for run_id in hostile() {
        number += 1;
        let at = format!("run `{run_id}`");
        let define = |world: &_| flows::waits_once(world, EVENT);
        let mut trial = Trial::new(engine, run_id, define, &[number])?;
        match trial.proceed().await {
            Ok(Some(Stopped::Waiting { .. })) => trials.push((at, number, trial)),
            Err(refusal)
                if refusal.kind.may_refuse_new_runs() && trial.world.calls().is_empty() => {}
            Err(refusal) => {
                return unexpected(
                    at,
                    "a new run, or a refusal of its id before the first call",
                    &refusal,
                );
            }
            Ok(stopped) => {
                return unexpected(at, "a run of its own that waits", &stopped);
            }
        }
    }

    equal("whether plain ids are accepted", &true, &(trials.len() > 5))?;
    for (at, number, trial) in &mut trials {
        trial.deliver(EVENT, &(100 + *number).to_string()).await?;
        until_state(trial, at, &[4 * *number, 100 + *number]).await?;

        let calls = trial.world.calls();
        let different: BTreeSet<_> = calls.iter().collect();
        equal(&*at, &2, &calls.len())?;
        equal(&*at, &2, &different.len())?;
    }
    Ok(())
}

pub(super) async fn of_events(engine: &dyn TestedEngine) -> Checked {
    let mut trials = Vec::new();
    for event in hostile() {
        let define = |world: &_| flows::waits_once(world, &event);
        let Ok(trial) = Trial::new(engine, unique("event"), define, &[3]) else {
            // The flow itself refuses some names.
            continue;
        };
        trials.push((event, trial));
    }
    equal(
        "whether plain names are accepted",
        &true,
        &(trials.len() > 5),
    )?;

    for (event, trial) in &mut trials {
        let at = format!("event `{event}`");
        match trial.proceed().await? {
            Some(Stopped::Waiting {
                event: waits_for, ..
            }) => equal(&at, &*event, &waits_for)?,
            stopped => {
                return unexpected(at, "a wait", &stopped);
            }
        }

        if trial.deliver(&format!("{event}x"), "6").await.is_ok() {
            return unexpected(
                at,
                "a refusal of an answer to a different event",
                &format_args!("success"),
            );
        }
        trial.deliver(event, "5").await?;
        until_state(trial, &at, &[12, 5]).await?;
    }
    Ok(())
}
