//! Flows on a durable engine: an attempt may end anywhere, the run is replayed from its start, and
//! comes to the same end as in one undisturbed process.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;

use cogwork_flow::engine::{Json, MemoryJournal};
use cogwork_flow::{Ended, Flow, RunError};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

#[path = "../support/attempt.rs"]
mod attempt;
#[path = "../support/engine.rs"]
mod engine;
#[path = "../support/flows.rs"]
mod flows;
#[path = "../support/world.rs"]
mod world;

use attempt::{Attempt, Crashed, Over};
use engine::{Engine, State, Style};
use flows::{Define, HOUR};
use world::World;

/// Where a run came to: the state, and the label and steps or the error.
#[derive(Debug, PartialEq, Clone)]
struct End {
    state: State,
    came_to: Result<(String, u64), String>,
}

impl End {
    fn new(state: State, finished: Result<Ended, RunError>) -> Self {
        let came_to = match finished {
            Ok(ended) => Ok((ended.action.to_string(), ended.steps)),
            Err(error) => Err(error.to_string()),
        };

        Self { state, came_to }
    }
}

/// What a person answers; nothing to some questions.
fn answer(event: &str) -> Option<Value> {
    (event == "question").then(|| json!(7))
}

async fn in_one_process(flow: &Flow<State>, start: &[u64], journaled: bool) -> End {
    let mut state = start.to_vec();
    let mut run = flow.begin();
    if journaled {
        run = run.with_journal(MemoryJournal::new("r"));
    }

    loop {
        let error = match run.finish(&mut state).await {
            Ok(ended) => return End::new(state.clone(), Ok(ended)),
            Err(error) => error,
        };

        let paused = match error.into_paused() {
            Ok(paused) => paused,
            Err(error) => {
                assert!(!error.is_journal(), "{error}");
                return End::new(state.clone(), Err(error));
            }
        };

        match answer(&paused.event) {
            Some(answer) => run.deliver(&paused.event, &answer).await.unwrap(),
            None => sleep(2 * HOUR).await,
        }
    }
}

/// Drops the work after so many polls.
async fn dropped_after<T>(polls: Option<u64>, work: impl Future<Output = T>) -> Option<T> {
    let mut work = std::pin::pin!(work);
    let mut left = polls;
    std::future::poll_fn(|context| match (work.as_mut().poll(context), &mut left) {
        (Poll::Ready(done), _) => Poll::Ready(Some(done)),
        (Poll::Pending, Some(0)) => Poll::Ready(None),
        (Poll::Pending, Some(left)) => {
            *left -= 1;
            Poll::Pending
        }
        (Poll::Pending, None) => Poll::Pending,
    })
    .await
}

/// One attempt after the other, each with a flow and a state of its own, until the run comes to an
/// end.
///
/// # Errors
///
/// When an attempt calls otherwise than the one before it.
async fn on_an_engine(
    engine: &Arc<Engine>,
    define: impl Fn(&World) -> Flow<State>,
    start: &[u64],
) -> Result<End, String> {
    loop {
        let flow = define(&engine.world);
        let (attempt, signal, position) = Attempt::new(engine);
        let mut run = flow.begin().with_journal(attempt);
        let mut state = start.to_vec();
        let polls = engine.crashes(6).then(|| engine.random(40));
        let finished = tokio::select! {
            biased;
            over = signal.over() => Err(over),
            finished = dropped_after(polls, run.finish(&mut state)) => finished.ok_or(Over::Crashed),
        };

        let waits_for = match finished {
            Err(Over::Crashed) => continue,
            Err(Over::Mismatch(mismatch)) => return Err(mismatch),
            Ok(Err(error)) if error.downcast_ref::<Crashed>().is_some() => continue,
            Err(Over::Suspended { event }) => event,
            Ok(Err(error)) if error.paused().is_some() => error.into_paused().unwrap().event,
            Ok(finished) => {
                let made = position.load(Ordering::Relaxed);
                let recorded = engine.len();
                if made != recorded {
                    return Err(format!(
                        "the run made {made} calls, on record are {recorded}"
                    ));
                }

                return Ok(End::new(state, finished));
            }
        };

        match answer(&waits_for) {
            Some(answer) => engine.deliver(&waits_for, Json::of(&answer).unwrap()),
            None => sleep(2 * HOUR).await,
        }
    }
}

fn style(seed: u64) -> Style {
    Style {
        suspends: seed.is_multiple_of(2),
    }
}

fn engine(style: Style, seed: u64, crashes: usize) -> Arc<Engine> {
    Arc::new(Engine::new(World::default(), style, seed, crashes))
}

/// The flow inside all others, on engines that crash here and there. Waits and sleeps inside items
/// and branches need a journal in process too.
async fn stands_on_an_engine(leaf: Define, start: &[u64], needs_a_journal: bool) {
    for nest in flows::nests() {
        let define = |world: &World| flows::nested(&nest, leaf, world);
        let undisturbed = World::default();
        let end = in_one_process(&define(&undisturbed), start, true).await;

        if !needs_a_journal {
            assert_eq!(
                in_one_process(&define(&World::default()), start, false).await,
                end,
                "{nest:?}"
            );
        }

        for seed in 0..12 {
            let what = format!("{nest:?}, seed {seed}");
            let engine = engine(style(seed), seed, (seed % 7) as usize * 3);
            let came = on_an_engine(&engine, define, start).await;
            assert_eq!(came.as_ref(), Ok(&end), "{what}");
            assert_eq!(engine.world.made_twice(), Vec::<String>::new(), "{what}");

            if end.came_to.is_ok() {
                nothing_is_called_in_vain(&undisturbed, &engine.world, &what);
            }

            let panicked = end
                .came_to
                .as_ref()
                .is_err_and(|error| error.contains("panicked"));

            engine.crash_no_more();
            let so_far = engine.world.len();
            assert_eq!(
                on_an_engine(&engine, define, start).await.as_ref(),
                Ok(&end),
                "{what}, once more"
            );

            if !panicked {
                assert_eq!(engine.world.calls_since(so_far), 0, "{what}, once more");
            }
        }
    }
}

/// Only what was lost in flight is called more often than in an undisturbed run.
fn nothing_is_called_in_vain(undisturbed: &World, world: &World, what: &str) {
    let calls = world.calls();
    let recorded = world.recorded();
    let lost = world.lost();
    let undisturbed = undisturbed.calls();
    assert_eq!(calls.len(), undisturbed.len(), "{what}");

    for (key, once) in undisturbed {
        let recorded = recorded[&key];
        let lost = lost.get(&key).copied().unwrap_or_default();

        // More than one where attempts are made in process.
        let each = once / recorded;
        let made = calls[&key];
        assert!(
            made >= once && made <= (recorded + lost) * each.max(1),
            "{what}: {key} was called {made} times"
        );
    }
}

macro_rules! on_an_engine {
    ($($name:ident from $start:expr $(, $needs:ident)?;)*) => {$(
        #[tokio::test(start_paused = true)]
        async fn $name() {
            let (leaf, start) = $start;
            stands_on_an_engine(leaf, &start, [$(stringify!($needs))?].contains(&"needs_a_journal")).await;
        }
    )*};
}

on_an_engine! {
    a_loop from (flows::a_loop, [3, 60]);
    a_batch from (flows::a_batch, [3, 60, 7, 1, 5]);
    an_item_that_fails from (flows::a_batch, [3, 60, 13, 1, 5]);
    an_item_that_is_tried_again from (flows::a_batch_good_at_last, [3, 60]);
    a_step_that_fails_three_times from (flows::a_step_of_three_attempts, [13, 3]);
    work_that_takes_too_long_three_times from (flows::a_retry_of_a_timeout, [3, 13]);
    a_composite_step_with_a_fallback from (flows::a_composite_step_with_a_fallback, [3, 60]), needs_a_journal;
    a_sleep from (flows::a_sleep, [3, 60]), needs_a_journal;
    a_wait_in_a_loop from (flows::a_wait_in_a_loop, [3, 1]), needs_a_journal;
    a_wait_answered_in_time from (flows::a_wait_answered_in_time, [3, 1]), needs_a_journal;
    a_wait_that_times_out from (flows::a_wait_that_times_out, [3, 1]), needs_a_journal;
    a_panic from (flows::a_panic, [3, 13]);
    a_composite_step from (flows::a_composite_step, [3, 60]);
    a_composite_step_that_times_out from (flows::a_composite_step_that_times_out, [3, 60]), needs_a_journal;
    a_composite_step_with_chains from (flows::a_composite_step_with_chains, [3, 60]);
    a_composite_batch from (flows::a_composite_batch, [3, 60, 7]);
    a_composite_step_that_waits from (flows::a_composite_step_that_waits, [3, 60]), needs_a_journal;
    a_composite_step_with_a_call_that_fails from (flows::a_composite_step_with_a_call_that_fails, [3, 60]), needs_a_journal;
    a_composite_step_that_is_tried_again from (flows::a_composite_step_good_at_last, [3, 60]);
}

#[tokio::test(start_paused = true)]
async fn the_retries_of_a_step_are_one_call_to_the_engine() {
    let engine = engine(style(1), 0, 0);
    let define = flows::a_step_of_three_attempts;
    on_an_engine(&engine, define, &[13]).await.unwrap();

    let made: Vec<_> = engine.world.calls().into_values().collect();
    let recorded: Vec<_> = engine.world.recorded().into_values().collect();
    assert_eq!((made, recorded), (vec![3], vec![1]));
}

#[tokio::test(start_paused = true)]
async fn a_sleep_ends_when_it_would_have_ended() {
    for seed in 0..200 {
        let engine = engine(style(seed), seed, 12);
        let began = Instant::now();
        on_an_engine(&engine, flows::a_sleep, &[3]).await.unwrap();
        assert_eq!(began.elapsed().as_secs(), HOUR.as_secs());
    }
}

#[tokio::test(start_paused = true)]
async fn a_deadline_drops_the_whole_run_and_a_replay_goes_on() {
    let engine = engine(style(0), 0, 0);
    let flow = flows::a_sleep(&engine.world);
    let began = Instant::now();
    let run = flow
        .begin()
        .with_journal(Attempt::new(&engine).0)
        .with_deadline(began + HOUR / 2);
    let error = { run }.finish(&mut vec![3]).await.unwrap_err();

    insta::assert_snapshot!(error, @"flow `leaf`, node `sleep`: the run reached its deadline at this node");
    let end = on_an_engine(&engine, flows::a_sleep, &[3]).await.unwrap();
    assert_eq!(
        (end.state, began.elapsed().as_secs()),
        (vec![6], HOUR.as_secs())
    );
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_cannot_be_read_is_told_once_and_then_another_is_awaited() {
    for suspends in [true, false] {
        let style = Style { suspends };
        let engine = engine(style, 0, 0);
        engine.deliver("question", Json::of(&"yes").unwrap());
        let end = on_an_engine(&engine, flows::a_wait_answered_in_time, &[3])
            .await
            .unwrap();

        insta::allow_duplicates! {
            insta::assert_snapshot!(end.came_to.unwrap_err(), @r#"flow `leaf`, node `ask`: exec failed: the event `question`: the answer cannot be read: invalid type: string "yes", expected u64 at line 1 column 5"#);
        }
        let end = on_an_engine(&engine, flows::a_wait_answered_in_time, &[3])
            .await
            .unwrap();
        assert_eq!(
            (end.state, end.came_to),
            (vec![20], Ok(("default".to_owned(), 2)))
        );
    }
}
