//! Random sequences of calls, failures, waits and crashes.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cogwork_flow::engine::{Journal, Json, recorded, wait_for};
use cogwork_flow::{BoxError, Flow, idempotency_key};
use proptest::collection::vec;
use proptest::prelude::*;

use super::crashes::dropped_after;
use super::{Made, add_one, composite, flow, outcomes, run};
use crate::lines::Lines;

#[derive(Debug, Clone, Copy)]
enum Action {
    /// A call with one of a few labels.
    Call(u8),
    /// Calls at once, the second of which is followed by another.
    Together,
    /// A call that fails, and another one instead.
    Fails,
    /// A call that fails at first, and the attempt with it.
    Breaks,
    /// A wait for a number.
    Wait,
    Yield,
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        4 => (0..3_u8).prop_map(Action::Call),
        2 => Just(Action::Together),
        1 => Just(Action::Fails),
        1 => Just(Action::Breaks),
        1 => Just(Action::Wait),
        1 => Just(Action::Yield),
    ]
}

async fn act(made: &Made, action: Action, n: u64) -> Result<u64, BoxError> {
    match action {
        Action::Call(label) => add_one(made, &format!("call {label}"), n).await,
        Action::Together => {
            let two = async {
                let n = add_one(made, "second", n).await?;
                add_one(made, "third", n).await
            };
            let both = tokio::try_join!(add_one(made, "first", n), two)?;
            Ok(both.0 + both.1 - n)
        }
        Action::Fails => {
            // Not counted: with another call that fails, it is made again.
            let fails = recorded("fails", || async {
                tokio::task::yield_now().await;
                Err::<u64, _>("no connection")
            });
            let error = fails.await.unwrap_err();
            assert_eq!(error.to_string(), "no connection");
            add_one(made, "instead", n).await
        }
        Action::Breaks => {
            let breaks = recorded("breaks", || async {
                let key = idempotency_key().unwrap();
                tokio::task::yield_now().await;
                match made.1.lock().unwrap().insert(key) {
                    true => Err("no service"),
                    false => Ok(n + 1),
                }
            });
            Ok(breaks.await?)
        }
        Action::Wait => {
            let answer = wait_for::<u64>("more", "", None, None).await?;
            Ok(n + answer.unwrap_or_default())
        }
        Action::Yield => {
            tokio::task::yield_now().await;
            Ok(n)
        }
    }
}

/// What the actions add.
fn sum(actions: &[Action]) -> u64 {
    let adds = |action: &Action| match action {
        Action::Call(_) | Action::Fails | Action::Breaks => 1,
        Action::Together => 3,
        Action::Wait => 7,
        Action::Yield => 0,
    };
    actions.iter().map(adds).sum()
}

/// A flow that does this, and fails so many times at the end.
fn acting(made: &Made, actions: &[Action], failures: u32) -> Flow<u64> {
    let actions: Arc<[Action]> = actions.into();
    let failures = Arc::new(AtomicU32::new(failures));
    flow(composite(made, move |made, mut n| {
        let actions = Arc::clone(&actions);
        let failures = Arc::clone(&failures);
        async move {
            for action in actions.iter() {
                n = act(&made, *action, n).await?;
            }

            let order = Ordering::Relaxed;
            match failures.fetch_update(order, order, |left| left.checked_sub(1)) {
                Ok(_) => Err("a bad reply".into()),
                Err(_) => Ok(n),
            }
        }
    }))
}

/// Runs once, and then checks that nothing was made again that had been on record.
async fn run_once(
    flow: &Flow<u64>,
    made: &Made,
    lines: &Lines,
    polls: usize,
) -> Result<Option<u64>, TestCaseError> {
    let recorded: HashSet<_> = outcomes(lines)
        .into_iter()
        .map(|step| format!("r:{step}"))
        .collect();
    let before = made.count();
    let ended = dropped_after(polls, run(flow, lines)).await;

    for key in &made.keys()[before..] {
        prop_assert!(!recorded.contains(key), "{} was made again", key);
    }

    match ended {
        Some(Ok(n)) => return Ok(Some(n)),
        Some(Err(error)) if error.paused().is_some() => {
            let journal = lines.journal();
            journal
                .deliver("more", Json::of(&7).unwrap())
                .await
                .unwrap();
        }
        Some(Err(error)) => {
            let error = error.to_string();
            let is_known = error.ends_with("a bad reply") || error.ends_with("no service");
            prop_assert!(is_known, "{}", error);
        }
        None => {}
    }

    Ok(None)
}

async fn check(
    actions: Vec<Action>,
    failures: u32,
    crashes: Vec<usize>,
) -> Result<(), TestCaseError> {
    let made = Made::default();
    let lines = Lines::default();
    let flow = acting(&made, &actions, failures);

    for polls in crashes {
        if let Some(n) = run_once(&flow, &made, &lines, polls).await? {
            prop_assert_eq!(n, sum(&actions));
        }
    }

    for _ in 0..100 {
        if let Some(n) = run_once(&flow, &made, &lines, usize::MAX).await? {
            prop_assert_eq!(n, sum(&actions));
            return Ok(());
        }
    }

    Err(TestCaseError::fail("the run doesn't end"))
}

proptest! {
    #[test]
    fn no_recorded_call_is_made_again(
        actions in vec(action(), 0..8),
        failures in 0..3_u32,
        crashes in vec(1..30_usize, 0..6),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(check(actions, failures, crashes))?;
    }
}
