//! What every engine has to do, whatever stores its runs.

use std::collections::BTreeSet;
use std::time::Instant;

use cogwork_flow::BoxError;
use futures_util::{StreamExt, TryStreamExt, stream};

use super::flows::{self, EVENT, Kind, SHORT};
use super::suite::{Checked, EngineCase, cases, equal, unexpected};
use super::trial::Trial;
use super::world::Halts;
use super::{Stopped, TestedEngine};
use crate::StoreErrorKind;

cases! {
    ENGINE_CASES: EngineCase, |engine|;
    runs_continue_after_a_crash_at_each_call,
    a_run_that_crashes_at_all_calls_comes_to_its_end,
    a_run_may_be_dropped_anywhere,
    a_run_that_ended_makes_no_calls,
    an_early_answer_is_kept,
    answers_are_used_in_order,
    a_used_answer_survives_a_crash,
    an_unreadable_answer_can_be_replaced,
    an_unknown_event_is_refused,
    the_limit_of_a_wait_does_not_start_over,
    a_sleep_is_not_shortened,
    a_cancelled_run_stays_cancelled,
    a_changed_flow_is_refused_with_the_difference,
    similar_and_hostile_names_are_kept_apart,
}

/// Runs of every kind of flow continue after a crash at each of their calls: loops, subflows, items,
/// branches, batches, recorded calls, sleeps and waits. Runs that fail report the same error.
async fn runs_continue_after_a_crash_at_each_call(engine: &dyn TestedEngine) -> Checked {
    for kind in flows::KINDS {
        let checked = crash_at_each_call(engine, kind).await;
        checked.map_err(|problem| format!("{}: {problem}", kind.name))?;
    }
    Ok(())
}

/// The number of runs at the same time.
const RUNS_AT_ONCE: usize = 8;

/// The maximum number of polls until a run of the suite ends.
const MAX_POLLS: usize = 5_000;

/// A run that nothing disturbs.
struct Reference<'k> {
    kind: &'k Kind,
    calls: Vec<String>,
}

impl<'k> Reference<'k> {
    async fn of(engine: &dyn TestedEngine, kind: &'k Kind) -> Result<Self, BoxError> {
        let mut trial = Trial::of(kind)?;
        let end = trial.until_the_end(engine).await?;
        let calls = trial.world.calls();

        let reference = Self { kind, calls };
        reference.check(&trial, &end)?;
        Ok(reference)
    }

    /// Checks that a run came to the same end, and that it repeated no call without need.
    fn check(&self, trial: &Trial, end: &Stopped) -> Checked {
        match (self.kind.ends, end) {
            (Ok(expected), Stopped::Ended { state, .. }) => {
                equal("the final state", &expected.to_vec(), state)?;
                // Sets, because calls at the same time come in any order, and a crash repeats some.
                let names = |calls: Vec<String>| calls.into_iter().collect::<BTreeSet<_>>();
                let expected = names(self.calls.clone());
                equal("the calls", &expected, &names(trial.world.calls()))?;
            }
            (Err(error), Stopped::Failed { error: got }) if got.contains(error) => {}
            (expected, end) => return unexpected("the end", format_args!("{expected:?}"), end),
        }
        trial.check_calls(self.kind.at_once)
    }
}

pub(super) async fn crash_at_each_call(engine: &dyn TestedEngine, kind: &Kind) -> Checked {
    let reference = Reference::of(engine, kind).await?;

    let calls = 1..=reference.calls.len();
    let runs = calls.map(|call| crash_at(engine, &reference, call));
    let runs = stream::iter(runs).buffer_unordered(RUNS_AT_ONCE);
    runs.try_collect().await
}

async fn crash_at(engine: &dyn TestedEngine, reference: &Reference<'_>, call: usize) -> Checked {
    let mut trial = Trial::of(reference.kind)?;
    trial.world.halt(Halts::At(call));
    let end = trial.until_the_end(engine).await?;

    let checked = reference.check(&trial, &end);
    let name = reference.calls.get(call - 1);
    checked.map_err(|problem| format!("after a crash at call {call}, {name:?}: {problem}").into())
}

/// The first process crashes at the first call, the second one at the second, and so on.
async fn a_run_that_crashes_at_all_calls_comes_to_its_end(engine: &dyn TestedEngine) -> Checked {
    for kind in [&flows::LOOP, &flows::NESTED, &flows::COMPOSITE] {
        let reference = Reference::of(engine, kind).await?;
        let mut trial = Trial::of(kind)?;
        trial.world.halt(Halts::AtNew);

        let end = trial.until_the_end(engine).await?;
        reference.check(&trial, &end)?;
    }
    Ok(())
}

/// A run may be dropped at any `await`, and continues in the same process.
async fn a_run_may_be_dropped_anywhere(engine: &dyn TestedEngine) -> Checked {
    if !engine.can_drop_anywhere() {
        return Ok(());
    }

    for kind in [&flows::LOOP, &flows::NESTED, &flows::CALLS] {
        drop_at_each_poll(engine, kind).await?;
    }
    Ok(())
}

/// Drops the run after each number of polls.
pub(super) async fn drop_at_each_poll(engine: &dyn TestedEngine, kind: &Kind) -> Checked {
    let reference = Reference::of(engine, kind).await?;

    // How often the run is polled is known once it isn't dropped any more.
    for polls in 1..MAX_POLLS {
        let mut trial = Trial::of(kind)?;
        let is_whole = trial.proceed_for(engine, polls).await?;
        let end = trial.until_the_end(engine).await?;

        let checked = reference.check(&trial, &end);
        checked.map_err(|problem| format!("dropped after {polls} polls: {problem}"))?;
        if is_whole {
            return Ok(());
        }
    }

    unexpected(
        "the run",
        format_args!("its end within {MAX_POLLS} polls"),
        &"more",
    )
}

/// A run that has ended makes no calls when it is executed again.
async fn a_run_that_ended_makes_no_calls(engine: &dyn TestedEngine) -> Checked {
    let mut trial = Trial::of(&flows::LOOP)?;
    let end = trial.until_the_end(engine).await?;

    for _ in 0..3 {
        let again = trial.until_the_end(engine).await?;
        equal("a replay", &end, &again)?;
        equal("the calls after a replay", &5, &trial.world.calls().len())?;
    }
    Ok(())
}

/// A run that makes a call, waits, and makes a call.
fn asks() -> Result<Trial, BoxError> {
    Trial::new(|world| flows::asks(world, EVENT), &[3])
}

/// Executes the run until it waits.
async fn until_it_waits(trial: &mut Trial, engine: &dyn TestedEngine) -> Checked {
    match trial.proceed(engine).await? {
        Some(Stopped::Waiting { event, .. }) if event == EVENT => Ok(()),
        stopped => unexpected("the run", format_args!("a wait for `{EVENT}`"), &stopped),
    }
}

/// Executes the run until its end, which must be this state.
async fn ends_with(trial: &mut Trial, engine: &dyn TestedEngine, expected: &[u64]) -> Checked {
    let at = format!("run `{}`", trial.attempt.run_id);
    match trial.proceed(engine).await? {
        Some(Stopped::Ended { state, .. }) => equal(at, &expected.to_vec(), &state),
        stopped => unexpected(at, format_args!("its end with {expected:?}"), &stopped),
    }
}

/// An answer that arrives before the run waits for it is kept.
async fn an_early_answer_is_kept(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks()?;
    // The process ends at the call before the wait, so the answer comes first.
    trial.crash_at(engine, 1).await?;

    trial.deliver(engine, EVENT, "5").await?;
    ends_with(&mut trial, engine, &[12, 5]).await
}

/// Answers to the same event are used in the order in which they were delivered.
async fn answers_are_used_in_order(engine: &dyn TestedEngine) -> Checked {
    let mut trial = Trial::new(flows::sums, &[3])?;
    until_it_waits(&mut trial, engine).await?;

    for answer in ["5", "6", "8"] {
        trial.deliver(engine, EVENT, answer).await?;
    }
    ends_with(&mut trial, engine, &[6, 5, 6, 8]).await
}

/// An answer that was used isn't requested again after a crash. One after the end is refused.
async fn a_used_answer_survives_a_crash(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks()?;
    until_it_waits(&mut trial, engine).await?;

    // A run on an engine may continue as soon as the answer arrives.
    trial.world.halt(Halts::At(2));
    trial.deliver(engine, EVENT, "5").await?;
    let crashed = trial.proceed(engine).await?;
    equal("the call after the answer", &None, &crashed)?;
    ends_with(&mut trial, engine, &[12, 5]).await?;
    trial.check_calls(1)?;

    match trial.deliver(engine, EVENT, "6").await {
        Err(_) => Ok(()),
        Ok(()) => unexpected("an answer after the end", "a refusal", &"success"),
    }
}

/// An answer that the flow cannot read is discarded, and the run waits for another.
async fn an_unreadable_answer_can_be_replaced(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks()?;
    until_it_waits(&mut trial, engine).await?;
    trial.deliver(engine, EVENT, "\"five\"").await?;

    // Some engines report the refusal as an error of the run, and others only to the person who
    // answered.
    if let Ok(Some(Stopped::Ended { state, .. })) = trial.proceed(engine).await {
        return unexpected("an answer that isn't a number", "a refusal", &state);
    }
    until_it_waits(&mut trial, engine).await?;

    trial.deliver(engine, EVENT, "5").await?;
    ends_with(&mut trial, engine, &[12, 5]).await
}

/// An answer to an event for which no node waits is refused.
async fn an_unknown_event_is_refused(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks()?;
    until_it_waits(&mut trial, engine).await?;

    for event in ["questoin", "", "question "] {
        if trial.deliver(engine, event, "5").await.is_ok() {
            let at = format_args!("an answer to the event `{event}`");
            return unexpected(at, "a refusal", &"success");
        }
    }

    trial.deliver(engine, EVENT, "5").await?;
    ends_with(&mut trial, engine, &[12, 5]).await
}

/// The limit of a wait doesn't start over when the run is executed again.
async fn the_limit_of_a_wait_does_not_start_over(engine: &dyn TestedEngine) -> Checked {
    let mut trial = Trial::new(flows::asks_for_an_hour, &[3])?;
    let first = trial.proceed(engine).await?;

    // Long enough that a limit that starts over is a different one.
    tokio::time::sleep(SHORT).await;
    let again = trial.proceed(engine).await?;
    equal("a wait that is executed again", &first, &again)
}

/// A sleep takes at least as long as it should.
async fn a_sleep_is_not_shortened(engine: &dyn TestedEngine) -> Checked {
    let mut trial = Trial::new(flows::sleeps, &[3])?;
    trial.crash_at(engine, 1).await?;

    let began = Instant::now();
    trial.until_the_end(engine).await?;
    let took = began.elapsed();
    match took >= SHORT {
        true => Ok(()),
        false => unexpected("a sleep", format_args!("at least {SHORT:?}"), &took),
    }
}

/// A run that was cancelled stays so, and takes no answers.
async fn a_cancelled_run_stays_cancelled(engine: &dyn TestedEngine) -> Checked {
    let mut trial = asks()?;
    until_it_waits(&mut trial, engine).await?;
    if !engine.cancel(&trial.attempt.run_id).await? {
        return Ok(());
    }

    for _ in 0..2 {
        let stopped = trial.proceed(engine).await?;
        equal("the run", &Some(Stopped::Cancelled), &stopped)?;
        if trial.deliver(engine, EVENT, "5").await.is_ok() {
            return unexpected("an answer to the run", "a refusal", &"success");
        }
    }
    Ok(())
}

/// A run is refused if its flow has changed, with the difference. It continues with its flow.
async fn a_changed_flow_is_refused_with_the_difference(engine: &dyn TestedEngine) -> Checked {
    let mut trial = Trial::of(&flows::LOOP)?;
    trial.crash_at(engine, 3).await?;

    let mut changed = trial.changed(flows::changed_loop)?;
    match changed.proceed(engine).await {
        Err(refusal) if refusal.kind() == StoreErrorKind::AnotherFlow => {
            if !refusal.to_string().contains("twice") {
                return unexpected("the error", "the name `twice`", &refusal);
            }
        }
        got => return unexpected("a changed flow", "the refusal `AnotherFlow`", &got),
    }

    // The refusal must not have changed the record.
    ends_with(&mut trial, engine, &[96, 60]).await?;
    trial.check_calls(1)
}

/// Returns texts that differ little, or that mean something to a file system, a database, a server or a
/// terminal.
fn hostile() -> Vec<String> {
    let long = "long ".repeat(400);
    let longer = format!("{long}.");
    let alike = "a A a/b a%2Fb a%2fb a+b ä a\u{308} nul nul\0nul % %25 . ..".split(' ');
    let special = [
        "",
        " ",
        "../../etc/passwd",
        "?a=b#c",
        "'; DROP TABLE runs; --",
        "\"quoted\"",
        "a:b#1",
        "line\nline",
        "\u{1b}[2J",
        "🦀",
        &long,
        &longer,
    ];

    alike.chain(special).map(str::to_owned).collect()
}

/// Runs whose ids are similar, empty, long or hostile are different runs, or are refused. Each waits for an
/// event with the same name, and has an input of its own. All of them wait before the first continues.
async fn similar_and_hostile_names_are_kept_apart(engine: &dyn TestedEngine) -> Checked {
    use StoreErrorKind::{Other, RunId};

    let mut trials = Vec::new();

    for (number, name) in (1..).zip(hostile()) {
        let asking = |event| Trial::named(&name, |world| flows::asks(world, event), &[number]);
        // The flow itself refuses some names of events.
        let (event, mut trial) = match asking(&name) {
            Ok(trial) => (name.as_str(), trial),
            Err(_) => (EVENT, asking(EVENT)?),
        };

        match trial.proceed(engine).await {
            Ok(Some(Stopped::Waiting { event: got, .. })) if got == event => {
                trials.push((number, got, trial));
            }
            // Any other kind would mean that it was taken for a different run.
            Err(refusal)
                if matches!(refusal.kind(), RunId | Other) && trial.world.calls().is_empty() => {}
            got => {
                let at = format!("run `{name}`");
                return unexpected(at, "a new run that waits, or a refusal of its id", &got);
            }
        }
    }

    // A subject that refuses every id would pass otherwise.
    equal(
        "whether plain names are accepted",
        &true,
        &(trials.len() > 5),
    )?;
    for (number, event, trial) in &mut trials {
        let misspelt = trial.deliver(engine, &format!("{event}x"), "5").await;
        equal("an answer to a different event", &true, &misspelt.is_err())?;

        let answer = 100 + *number;
        trial.deliver(engine, event, &answer.to_string()).await?;
        ends_with(trial, engine, &[4 * *number, answer]).await?;
        equal("the calls", &2, &trial.world.calls().len())?;
    }
    Ok(())
}
