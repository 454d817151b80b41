//! What every store has to do, in addition to what every engine has to.

use std::num::NonZeroU64;
use std::sync::Arc;

use cogwork_flow::BoxError;
use cogwork_flow::engine::Json;
use futures_util::future::join_all;

use super::engine_cases::{crash_at_each_call, drop_at_each_poll, hostile};
use super::flows::{self, EVENT, Kind};
use super::suite::{Checked, StoreCase, cases, equal, unexpected};
use super::trial::{StoreEngine, Trial, finish, unique};
use super::{Attempt, Open, Opened, Refusal, RefusalKind, Stopped, TestedStore};

pub(super) type Store = Arc<dyn TestedStore>;

cases! {
    STORE_CASES: StoreCase, |store|;
    a_run_is_started_once,
    a_missing_run_is_reported,
    a_run_is_resumed_with_its_input,
    a_different_state_is_refused,
    a_run_in_use_is_not_opened,
    of_many_takers_one_gets_the_run,
    a_process_that_lost_its_run_cannot_write needs Fences,
    runs_are_listed_with_their_status,
    hostile_ids_are_listed,
    a_removed_run_leaves_nothing,
    a_changed_flow_is_accepted_on_request,
    a_change_of_the_past_is_found,
    a_longer_flow_continues_after_the_end,
    an_answer_comes_from_another_process,
    unused_answers_are_limited,
    a_run_with_snapshots_continues_after_a_crash,
    a_snapshot_keeps_answers_and_the_input,
    a_fork_takes_earlier_steps_from_the_record needs Forks,
    an_impossible_fork_leaves_no_run needs Forks,
}

fn asks(run_id: &str) -> Result<Trial, BoxError> {
    Trial::named(run_id, |world| flows::asks(world, EVENT), &[3])
}

fn checked_loop() -> Result<Trial, BoxError> {
    Trial::new(flows::checked_loop, flows::LOOP.input)
}

/// Opens a run, and executes it until it stops.
async fn stopped(store: &Store, how: Open, trial: &Trial) -> Result<Stopped, Refusal> {
    let opened = store.open(how, &trial.attempt).await?;
    proceed(opened, &trial.attempt).await
}

async fn proceed(opened: Opened, attempt: &Attempt) -> Result<Stopped, Refusal> {
    let run = attempt.flow.begin().with_journal(opened.journal);
    finish(run, opened.state).await
}

/// Executes a run, which must end with this state.
async fn ends_with(store: &Store, how: Open, trial: &Trial, expected: &[u64]) -> Checked {
    let stopped = stopped(store, how, trial).await?;
    has_ended(stopped, expected)
}

fn has_ended(stopped: Stopped, expected: &[u64]) -> Checked {
    match stopped {
        Stopped::Ended { state, .. } => equal("the final state", &expected.to_vec(), &state),
        stopped => unexpected("the run", "its end", &stopped),
    }
}

/// Executes a run for so many steps, and closes it.
async fn take_steps(store: &Store, how: Open, trial: &Trial, steps: usize) -> Checked {
    let opened = store.open(how, &trial.attempt).await?;
    let mut state = opened.state;
    let mut run = trial.attempt.flow.begin().with_journal(opened.journal);

    for _ in 0..steps {
        run.step(&mut state).await?;
    }
    Ok(())
}

/// Checks that something was refused for this reason.
fn refused<T: std::fmt::Debug>(at: &str, kind: RefusalKind, result: Result<T, Refusal>) -> Checked {
    match result {
        Err(refusal) if refusal.kind == kind => Ok(()),
        got => unexpected(at, format_args!("the refusal `{kind:?}`"), &got),
    }
}

/// Checks that a run cannot be opened in these ways.
async fn refuses(store: &Store, ways: &[Open], trial: &Trial, kind: RefusalKind) -> Checked {
    for how in ways {
        let opened = store.open(*how, &trial.attempt).await;
        refused(&format!("`{how:?}`"), kind, opened)?;
    }
    Ok(())
}

fn calls(trial: &Trial, expected: usize) -> Checked {
    equal("the number of calls", &expected, &trial.world.calls().len())
}

/// A run is started once. A second start is refused and changes nothing.
async fn a_run_is_started_once(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    take_steps(&store, Open::Start, &trial, 4).await?;

    let kind = RefusalKind::AlreadyThere;
    refuses(&store, &[Open::Start], &trial, kind).await?;
    ends_with(&store, Open::Resume, &trial, &[96, 60]).await?;
    calls(&trial, 5)
}

/// A run that doesn't exist cannot be resumed, answered or removed.
async fn a_missing_run_is_reported(store: Store) -> Checked {
    let (trial, kind) = (asks("a")?, RefusalKind::Missing);
    for is_empty in [true, false] {
        refuses(&store, &[Open::Resume, Open::ResumeChanged], &trial, kind).await?;
        refused("an answer", kind, store.deliver("a", EVENT, "7").await)?;
        refused("a removal", kind, store.remove("a").await)?;
        if is_empty {
            equal("the list", &Vec::new(), &store.list().await?)?;
            stopped(&store, Open::Start, &asks("b")?).await?;
        }
    }
    Ok(())
}

/// A resumed run has the input with which it was started. A different one is refused, however far it came.
async fn a_run_is_resumed_with_its_input(store: Store) -> Checked {
    let mut trial = Trial::of(&flows::LOOP)?;
    trial.attempt.input = vec![0, u64::MAX, 1 << 53, (1 << 53) + 1];
    store.open(Open::Start, &trial.attempt).await?;
    let other = store.another_process();
    let opened = other.open(Open::Resume, &trial.attempt).await?;
    equal("the input", &trial.attempt.input, &opened.state)?;

    // However far the run came: none, one, several, or all of its steps.
    for steps in [0, 1, 4, 5] {
        let mut trial = Trial::of(&flows::LOOP)?;
        take_steps(&store, Open::StartOrResume, &trial, steps).await?;

        trial.attempt.input = vec![3, 61];
        let kind = RefusalKind::AnotherInput;
        refuses(&store, &[Open::StartOrResume], &trial, kind).await?;

        trial.attempt.input = vec![3, 60];
        ends_with(&store, Open::StartOrResume, &trial, &[96, 60]).await?;
        calls(&trial, 5)?;
    }
    Ok(())
}

/// A run is refused if it is resumed with a state that isn't the recorded one.
async fn a_different_state_is_refused(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    take_steps(&store, Open::Start, &trial, 4).await?;

    let opened = store.open(Open::Resume, &trial.attempt).await?;
    let mut run = trial.attempt.flow.begin().with_journal(opened.journal);
    match run.finish(&mut vec![4, 60]).await {
        Err(error) if error.is_another_state() => Ok(()),
        got => unexpected("a different state", "the error `is_another_state`", &got),
    }
}

/// While a process uses a run, others can list it, and neither open nor remove it. After that, they can.
async fn a_run_in_use_is_not_opened(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    let first = store.open(Open::Start, &trial.attempt).await?;
    let other = store.another_process();

    let kind = RefusalKind::InUse;
    let ways = [Open::Resume, Open::StartOrResume, Open::ResumeChanged];
    for store in [&store, &other] {
        refuses(store, &ways, &trial, kind).await?;
        refused("a removal", kind, store.remove(&trial.attempt.run_id).await)?;
        equal("the number of runs", &1, &store.list().await?.len())?;
    }

    // Other runs are free, and so is this one after its first process.
    other
        .open(Open::Start, &Trial::of(&flows::LOOP)?.attempt)
        .await?;
    drop(first);
    ends_with(&other, Open::Resume, &trial, &[96, 60]).await?;
    store
        .remove(&trial.attempt.run_id)
        .await
        .map_err(Into::into)
}

/// If many processes open a run at once, one of them gets it.
async fn of_many_takers_one_gets_the_run(store: Store) -> Checked {
    for _ in 1..=5 {
        let trial = Trial::of(&flows::LOOP)?;
        let takers: Vec<_> = (0..8).map(|_| store.another_process()).collect();
        let opening = takers
            .iter()
            .map(|taker| taker.open(Open::StartOrResume, &trial.attempt));
        let opened = join_all(opening).await;

        let (winners, losers): (Vec<_>, Vec<_>) = opened.into_iter().partition(Result::is_ok);
        equal("the processes with the run", &1, &winners.len())?;
        for loser in losers {
            refused("the others", RefusalKind::InUse, loser)?;
        }
    }
    Ok(())
}

/// A process that lost its run without noticing can neither write to it nor replace it by a snapshot.
async fn a_process_that_lost_its_run_cannot_write(store: Store) -> Checked {
    for fold_every in [None, Some(NonZeroU64::MIN)] {
        let old = Trial::of(&flows::LOOP)?;
        let run_id = &old.attempt.run_id;
        let opened = store.open(Open::Start, &old.attempt).await?;
        let mut state = opened.state;
        let mut run = old.attempt.flow.begin().with_journal(opened.journal);
        if let Some(steps) = fold_every {
            run = run.with_fold_every(steps);
        }
        run.step(&mut state).await?;

        // The new process has the same run, and counts its own calls.
        store.expire_lease(run_id).await?;
        let new = Trial::named(run_id, flows::LOOP.define, flows::LOOP.input)?;
        let other = store.another_process();
        let opened = other.open(Open::Resume, &new.attempt).await?;
        match run.finish(&mut state).await {
            Err(error) if error.is_journal() => {}
            got => return unexpected("the old process", "an error of the journal", &got),
        }

        // Also after the new process has written.
        has_ended(proceed(opened, &new.attempt).await?, &[96, 60])?;
        if run.finish(&mut state).await.is_ok() {
            return unexpected("the old process, after the end", "an error", &"success");
        }
        drop(run);

        ends_with(&other, Open::Resume, &new, &[96, 60]).await?;
        calls(&new, 4)?;
    }
    Ok(())
}

/// Runs are listed, sorted by id, with their status.
async fn runs_are_listed_with_their_status(store: Store) -> Checked {
    equal("an empty store", &Vec::new(), &store.list().await?)?;

    let [failing, ..] = &flows::FAILING;
    let failed = Trial::named("failed", failing.define, failing.input)?;
    stopped(&store, Open::Start, &failed).await?;
    let open = Trial::named("Open", flows::LOOP.define, flows::LOOP.input)?;
    store.open(Open::Start, &open.attempt).await?;
    for run_id in ["waiting", "answered", "ended"] {
        stopped(&store, Open::Start, &asks(run_id)?).await?;
    }
    store.deliver("answered", EVENT, "5").await?;
    store.deliver("ended", EVENT, "5").await?;
    stopped(&store, Open::Resume, &asks("ended")?).await?;

    let expected = [
        ("Open", "open"),
        ("answered", "open"),
        ("ended", "ended"),
        ("failed", "failed"),
        ("waiting", "paused"),
    ];
    let expected = expected.map(|(id, status)| (id.to_owned(), status.to_owned()));
    for store in [store.clone(), store.another_process()] {
        equal("the list", &expected.to_vec(), &store.list().await?)?;
    }
    Ok(())
}

/// Runs are listed under the ids with which they were started.
async fn hostile_ids_are_listed(store: Store) -> Checked {
    let mut expected = Vec::new();
    for run_id in hostile() {
        let trial = Trial::named(&run_id, flows::LOOP.define, flows::LOOP.input)?;
        match store.open(Open::Start, &trial.attempt).await {
            Ok(_) => expected.push(run_id),
            Err(refusal) if refusal.kind == RefusalKind::Other => {}
            got => return unexpected("a run", "a new run, or a refusal of its id", &got),
        }
    }

    expected.sort_unstable();
    let listed: Vec<_> = store.list().await?.into_iter().map(|(id, _)| id).collect();
    equal("the ids in the list", &expected, &listed)
}

/// After a run was removed, its id can be used again, and nothing of it is left. Other runs aren't affected.
async fn a_removed_run_leaves_nothing(store: Store) -> Checked {
    let others = ["A", "a ", "a.", "aa", "b", "a%"];
    for run_id in others.iter().chain(&["a"]) {
        stopped(&store, Open::Start, &asks(run_id)?).await?;
        store.deliver(run_id, EVENT, "5").await?;
    }
    store.remove("a").await?;

    // Other runs, also with similar ids, are still there.
    for run_id in others {
        let trial = asks(run_id)?;
        ends_with(&store, Open::Resume, &trial, &[12, 5]).await?;
        calls(&trial, 1)?;
    }
    equal(
        "the number of runs",
        &others.len(),
        &store.list().await?.len(),
    )?;

    // A new run with the same id uses neither outcomes nor answers of the old one.
    let again = asks("a")?;
    refuses(&store, &[Open::Resume], &again, RefusalKind::Missing).await?;
    match stopped(&store, Open::Start, &again).await? {
        Stopped::Waiting { .. } => calls(&again, 1),
        got => unexpected("a new run with the same id", "a wait", &got),
    }
}

/// A changed flow is refused, or accepted and recorded if the program asks for it. One with a different
/// name is refused in any case.
async fn a_changed_flow_is_accepted_on_request(store: Store) -> Checked {
    let old = checked_loop()?;
    take_steps(&store, Open::Start, &old, 1).await?;

    let kind = RefusalKind::AnotherFlow;
    let ways = [Open::Resume, Open::StartOrResume, Open::ResumeChanged];
    let renamed = old.changed(flows::renamed_loop)?;
    refuses(&store, &ways, &renamed, kind).await?;
    let new = old.changed(flows::changed_loop)?;
    refuses(&store, &[Open::Resume, Open::StartOrResume], &new, kind).await?;
    store.open(Open::ResumeChanged, &new.attempt).await?;

    refuses(&store, &[Open::Resume], &old, kind).await?;
    ends_with(&store, Open::Resume, &new, &[96, 60]).await?;
    calls(&old, 5)
}

/// A change before the end of the record is found when the run arrives there.
async fn a_change_of_the_past_is_found(store: Store) -> Checked {
    let old = checked_loop()?;
    stopped(&store, Open::Start, &old).await?;

    let new = old.changed(flows::changed_loop)?;
    match stopped(&store, Open::ResumeChanged, &new).await {
        Err(refusal) if refusal.error.contains("examine") => calls(&old, 5),
        got => unexpected("a different second node", "an error with its name", &got),
    }
}

/// A run that has ended continues if its flow became longer.
async fn a_longer_flow_continues_after_the_end(store: Store) -> Checked {
    let old = checked_loop()?;
    stopped(&store, Open::Start, &old).await?;

    let new = old.changed(flows::longer_loop)?;
    for how in [Open::ResumeChanged, Open::Resume] {
        ends_with(&store, how, &new, &[192, 60]).await?;
        calls(&new, 6)?;
    }
    Ok(())
}

/// Another process answers while nobody executes the run.
async fn an_answer_comes_from_another_process(store: Store) -> Checked {
    let trial = asks("a")?;
    stopped(&store, Open::Start, &trial).await?;

    let other = store.another_process();
    let misspelt = other.deliver("a", "questoin", "5").await;
    refused("a misspelt event", RefusalKind::UnknownEvent, misspelt)?;
    other.deliver("a", EVENT, "5").await?;
    ends_with(&store.another_process(), Open::Resume, &trial, &[12, 5]).await?;

    let late = other.deliver("a", EVENT, "6").await;
    refused("an answer after the end", RefusalKind::Ended, late)
}

/// More than a [`Recorded`](cogwork_flow::engine::Recorded) journal keeps.
const MANY: usize = 2_000;

/// The answers to a run that doesn't use them are limited, and the run stays readable.
async fn unused_answers_are_limited(store: Store) -> Checked {
    let trial = asks("a")?;
    let opened = store.open(Open::Start, &trial.attempt).await?;

    let mut accepted = 0;
    while accepted < MANY {
        let answer = Json::from(accepted.to_string());
        if opened.journal.deliver(EVENT, answer).await.is_err() {
            break;
        }
        accepted += 1;
    }
    drop(opened);

    let is_limited = (1..MANY).contains(&accepted);
    equal(
        "whether some answers are accepted, and not all",
        &true,
        &is_limited,
    )?;
    ends_with(&store, Open::Resume, &trial, &[12, 0]).await
}

/// A run continues from its snapshot after a crash at each call, and when it is dropped anywhere.
async fn a_run_with_snapshots_continues_after_a_crash(store: Store) -> Checked {
    // A snapshot after each step, after some, and in the middle of a loop.
    for every in [1, 2, 3] {
        let folding = StoreEngine::folding(store.clone(), every);
        crash_at_each_call(&folding, &flows::LOOP).await?;
        drop_at_each_poll(&folding, &flows::LOOP).await?;
    }

    let folding = StoreEngine::folding(store, 1);
    crash_at_each_call(&folding, &flows::NESTED).await?;
    crash_at_each_call(&folding, &flows::WAITING).await?;
    drop_at_each_poll(&folding, &flows::CALLS).await
}

/// A snapshot keeps unused answers and the input.
async fn a_snapshot_keeps_answers_and_the_input(store: Store) -> Checked {
    let trial = Trial::new(flows::sums, &[3, 1])?;
    take_steps(&store, Open::Start, &trial, 0).await?;
    for answer in ["5", "6"] {
        store.deliver(&trial.attempt.run_id, EVENT, answer).await?;
    }

    // The snapshot follows the first step.
    let opened = store.open(Open::Resume, &trial.attempt).await?;
    let mut state = opened.state;
    let run = trial.attempt.flow.begin().with_journal(opened.journal);
    run.with_fold_every(NonZeroU64::MIN)
        .step(&mut state)
        .await?;

    let opened = store.open(Open::Resume, &trial.attempt).await?;
    equal("the state in the snapshot", &vec![6, 1], &opened.state)?;
    has_ended(proceed(opened, &trial.attempt).await?, &[6, 1, 5, 6])?;

    // A snapshot doesn't change what the run was started with.
    ends_with(&store, Open::StartOrResume, &trial, &[6, 1, 5, 6]).await?;
    calls(&trial, 1)
}

/// A fork at each step has the steps before it, without a call, and executes the others.
async fn a_fork_takes_earlier_steps_from_the_record(store: Store) -> Checked {
    let sleeps = Kind {
        define: flows::sleeps,
        input: &[3],
        at_once: 1,
        ends: Ok(&[12]),
    };
    for kind in [&flows::LOOP, &flows::NESTED, &flows::CALLS, &sleeps] {
        let trial = Trial::of(kind)?;
        let state = kind.ends.unwrap_or_default();
        ends_with(&store, Open::Start, &trial, state).await?;
        let original = trial.world.calls();

        for step in 1.. {
            let before = trial.world.calls().len();
            let fork = Attempt {
                run_id: unique(),
                ..trial.attempt.clone()
            };
            let opened = match store.fork(&trial.attempt.run_id, step, &fork).await {
                Ok(opened) => opened,
                Err(_) if step > 1 => break,
                Err(refusal) => return Err(refusal.into()),
            };

            has_ended(proceed(opened, &fork).await?, state)?;
            let expected = original.iter().filter(|call| number(call) >= step).count();
            let made = trial.world.calls().len() - before;
            equal(
                format_args!("the calls of a fork at step {step}"),
                &expected,
                &made,
            )?;
        }
    }
    Ok(())
}

/// Returns the number of the outermost step of a call.
fn number(call: &str) -> u64 {
    let number = call.split('#').nth(1).unwrap_or_default();
    let digits = number.split(|digit: char| !digit.is_ascii_digit()).next();
    digits
        .and_then(|digits| digits.parse().ok())
        .unwrap_or_default()
}

/// A fork of a run that doesn't exist, at a step that isn't on record, or with an id that is in use is
/// refused, and leaves no run.
async fn an_impossible_fork_leaves_no_run(store: Store) -> Checked {
    let trial = Trial::of(&flows::LOOP)?;
    stopped(&store, Open::Start, &trial).await?;
    let run_id = &trial.attempt.run_id;
    let other = Trial::of(&flows::LOOP)?.attempt;

    let missing = store.fork("missing", 1, &other).await;
    refused("a fork of no run", RefusalKind::Missing, missing)?;
    let same = store.fork(run_id, 1, &trial.attempt).await;
    refused("a fork with its id", RefusalKind::AlreadyThere, same)?;
    if let Ok(far) = store.fork(run_id, 1_000, &other).await {
        return unexpected("a fork at step 1,000", "a refusal", &far);
    }
    equal("the number of runs", &1, &store.list().await?.len())
}
