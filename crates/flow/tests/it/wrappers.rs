//! Retry, timeout, fallback and focus around a node, alone and around one another.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use cogwork_flow::engine::WorkError;
use cogwork_flow::nodes::{Elapsed, Phase};
use cogwork_flow::{Action, Backoff, Ended, Flow, Node, RunError};
use insta::assert_snapshot;
use tokio::time::Instant;

/// What a run asks of [`Service`], and what it got.
#[derive(Debug, Default)]
struct Job {
    /// Calls of `exec` for this job.
    calls: Arc<AtomicU32>,
    /// The first calls, so many, fail.
    failures: u32,
    /// How long each call takes.
    takes: Duration,
    prepared: u32,
    result: Option<u32>,
}

impl Job {
    fn failing(failures: u32) -> Self {
        Self {
            failures,
            ..Self::default()
        }
    }

    fn taking(takes: Duration) -> Self {
        Self {
            takes,
            ..Self::default()
        }
    }

    fn calls(&self) -> u32 {
        self.calls.load(Ordering::SeqCst)
    }
}

/// Answers with the number of the call that succeeded. Holds nothing: one serves many runs.
#[derive(Debug)]
struct Service;

#[derive(Debug, PartialEq, thiserror::Error)]
enum ServiceError {
    #[error("busy at call {0}")]
    Busy(u32),
    #[error("no such account")]
    NoAccount,
}

impl Node<Job> for Service {
    type Prep = (Arc<AtomicU32>, u32, Duration);
    type Exec = u32;
    type Error = ServiceError;

    fn actions(&self) -> Vec<Action> {
        ["first", "later"].map(Action::from_static).to_vec()
    }

    fn prep(&self, job: &mut Job) -> Result<Self::Prep, ServiceError> {
        job.prepared += 1;
        if job.failures == u32::MAX {
            return Err(ServiceError::NoAccount);
        }

        Ok((Arc::clone(&job.calls), job.failures, job.takes))
    }

    async fn exec(&self, (calls, failures, takes): &Self::Prep) -> Result<u32, ServiceError> {
        let call = calls.fetch_add(1, Ordering::SeqCst) + 1;
        tokio::time::sleep(*takes).await;
        if call <= *failures {
            Err(ServiceError::Busy(call))
        } else {
            Ok(call)
        }
    }

    fn post(&self, job: &mut Job, _: Self::Prep, call: u32) -> Result<Action, ServiceError> {
        if call == 99 {
            return Err(ServiceError::NoAccount);
        }

        job.result = Some(call);
        Ok(Action::from_static(if call == 1 {
            "first"
        } else {
            "later"
        }))
    }
}

/// 1 s, 2 s, 4 s…
fn doubling(attempts: u32) -> Backoff {
    Backoff::attempts(NonZeroU32::new(attempts).unwrap())
        .with_first(secs(1))
        .with_factor(2.0)
        .with_jitter(false)
}

fn secs(secs: u64) -> Duration {
    Duration::from_secs(secs)
}

fn flow<S: Send + 'static>(node: impl Node<S> + 'static) -> Flow<S> {
    let flow = Flow::builder("f")
        .start("call")
        .node("call", node)
        .end("call", "first");
    flow.end("call", "later").build().unwrap()
}

/// Runs one node; the time is that of the paused clock, so exact.
async fn run(node: impl Node<Job> + 'static, job: &mut Job) -> (Result<Ended, RunError>, Duration) {
    let began = Instant::now();
    let outcome = flow(node).run(job).await;
    (outcome, began.elapsed())
}

/// Timers of tokio are exact to a millisecond and fire at its end.
#[track_caller]
fn assert_took(took: Duration, expected: Duration) {
    assert!(
        took >= expected && took < expected + Duration::from_millis(20),
        "took {took:?}"
    );
}

fn retried(error: &cogwork_flow::BoxError) -> &WorkError {
    error.downcast_ref().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_on_until_it_succeeds_or_gives_up() {
    let gives_up = "flow `f`, node `call`: exec failed after 4 attempts: busy at call 4";
    for (failures, attempts, came_to, calls, seconds) in [
        (0, 3, "first", 1, 0),
        (1, 3, "later", 2, 1),
        (9, 4, gives_up, 4, 1 + 2 + 4),
    ] {
        let mut job = Job::failing(failures);
        let (outcome, took) = run(Service.retry(doubling(attempts)), &mut job).await;
        match outcome {
            Ok(ended) => assert_eq!(ended.action.as_str(), came_to),
            Err(error) => {
                assert_eq!(error.to_string(), came_to);
                assert_eq!(error.phase(), Some(Phase::Exec));
                assert_eq!(error.attempts(), Some(attempts));
                assert_eq!(error.downcast_ref(), Some(&ServiceError::Busy(attempts)));
            }
        }

        assert_eq!((job.calls(), job.prepared), (calls, 1));
        assert_took(took, secs(seconds));
    }
}

#[tokio::test(start_paused = true)]
async fn only_errors_worth_it_are_tried_again() {
    for (last, text) in [
        (1, "exec failed: busy at call 1"),
        (2, "exec failed after 2 attempts: busy at call 2"),
    ] {
        let mut job = Job::failing(9);
        let node = Service
            .retry(doubling(5))
            .when(move |error: &ServiceError| *error != ServiceError::Busy(last));
        let (outcome, _) = run(node, &mut job).await;
        let error = outcome.unwrap_err();

        assert_eq!(error.to_string(), format!("flow `f`, node `call`: {text}"));
        assert_eq!((error.attempts(), job.calls()), (Some(last), last));
    }
}

#[tokio::test(start_paused = true)]
async fn prep_and_post_are_not_tried_again() {
    let mut job = Job::failing(u32::MAX);
    let (outcome, _) = run(
        Service.retry(doubling(3)).fallback(async |_, _| Ok(7)),
        &mut job,
    )
    .await;
    let error = outcome.unwrap_err();
    assert_snapshot!(error, @"flow `f`, node `call`: prep failed: no such account");
    assert_eq!(
        (error.attempts(), error.phase()),
        (Some(1), Some(Phase::Prep))
    );
    assert_eq!((job.prepared, job.calls()), (1, 0));

    let mut job = Job {
        calls: Arc::new(98.into()),
        ..Job::default()
    };
    let (outcome, _) = run(Service.timeout(secs(1)).retry(doubling(3)), &mut job).await;
    let error = outcome.unwrap_err();
    assert_snapshot!(error, @"flow `f`, node `call`: post failed: no such account");
    assert_eq!(
        (error.attempts(), error.downcast_ref()),
        (Some(1), Some(&ServiceError::NoAccount))
    );
    assert_eq!((job.prepared, job.calls()), (1, 99));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_inside_a_retry_is_for_each_attempt() {
    let mut job = Job::taking(secs(10));
    let (outcome, took) = run(Service.timeout(secs(3)).retry(doubling(3)), &mut job).await;
    let error = outcome.unwrap_err();
    assert_snapshot!(error, @"flow `f`, node `call`: exec failed after 3 attempts: no outcome within 3s");
    assert_eq!(error.downcast_ref(), Some(&Elapsed { limit: secs(3) }));
    assert_eq!(job.calls(), 3);
    assert_took(took, secs(3 + 1 + 3 + 2 + 3));
}

#[tokio::test(start_paused = true)]
async fn a_timeout_around_a_retry_is_for_all_attempts_together() {
    let mut job = Job {
        failures: 9,
        ..Job::taking(secs(2))
    };
    let (outcome, took) = run(Service.retry(doubling(9)).timeout(secs(6)), &mut job).await;
    let error = outcome.unwrap_err();
    assert_snapshot!(error, @"flow `f`, node `call`: exec failed: no outcome within 6s");
    assert_eq!(
        (error.downcast_ref(), error.attempts()),
        (Some(&Elapsed { limit: secs(6) }), Some(1))
    );
    assert_eq!(job.calls(), 2); // at 0 s and 3 s; the third would be at 7 s
    assert_took(took, secs(6));

    // In time the retry's own error comes through, count and all.
    let mut job = Job::failing(9);
    let (outcome, _) = run(Service.retry(doubling(2)).timeout(secs(6)), &mut job).await;
    assert_snapshot!(outcome.unwrap_err(), @"flow `f`, node `call`: exec failed after 2 attempts: busy at call 2");
}

#[tokio::test(start_paused = true)]
async fn a_fallback_outside_a_retry_comes_after_all_attempts() {
    let mut job = Job::failing(9);
    let seen = Arc::new(AtomicU32::new(0));
    let attempts = Arc::clone(&seen);
    let node = Service.retry(doubling(3)).fallback_with(
        attempts,
        async |attempts, (_, failures, _), error| {
            let error = retried(&error);
            attempts.store(error.attempts, Ordering::SeqCst);
            assert_eq!(error.error.downcast_ref(), Some(&ServiceError::Busy(3)));
            Ok(failures + 1_000)
        },
    );

    let (outcome, took) = run(node, &mut job).await;
    assert_eq!(outcome.unwrap().action.as_str(), "later");
    assert_eq!(
        (job.calls(), job.result, seen.load(Ordering::SeqCst)),
        (3, Some(1_009), 3)
    );
    assert_took(took, secs(3));
}

#[tokio::test(start_paused = true)]
async fn a_fallback_inside_a_retry_leaves_it_nothing_to_do_unless_it_fails_too() {
    let mut job = Job::failing(9);
    let (outcome, took) = run(
        Service.fallback(async |_, _| Ok(7)).retry(doubling(3)),
        &mut job,
    )
    .await;
    assert!(outcome.is_ok());
    assert_eq!((job.calls(), job.result), (1, Some(7)));
    assert_took(took, Duration::ZERO);

    let mut job = Job::failing(9);
    let picky = Service.fallback(async |_, error| {
        if error == ServiceError::Busy(2) {
            Ok(7)
        } else {
            Err(error.into())
        }
    });

    let (outcome, took) = run(picky.retry(doubling(3)), &mut job).await;
    assert!(outcome.is_ok());
    assert_eq!((job.calls(), job.result), (2, Some(7)));
    assert_took(took, secs(1));
}

#[tokio::test(start_paused = true)]
async fn retries_around_retries_keep_the_nodes_own_error() {
    let mut job = Job::failing(9);
    let node = Service
        .retry(doubling(2))
        .timeout(secs(60))
        .retry(doubling(3));
    let (outcome, _) = run(node, &mut job).await;
    let error = outcome.unwrap_err();

    assert_snapshot!(error, @"flow `f`, node `call`: exec failed after 3 attempts: busy at call 6");
    assert_eq!(error.downcast_ref(), Some(&ServiceError::Busy(6)));
    assert_eq!(
        error.into_source().unwrap().downcast_ref(),
        Some(&ServiceError::Busy(6))
    );
}

struct App {
    job: Job,
}

fn job(app: &mut App) -> &mut Job {
    &mut app.job
}

#[tokio::test(start_paused = true)]
async fn wrapped_nodes_go_into_larger_states_and_the_other_way_round() {
    let mut app = App {
        job: Job::failing(1),
    };
    flow(Service.retry(doubling(2)).focus(job))
        .run(&mut app)
        .await
        .unwrap();
    assert_eq!(app.job.result, Some(2));

    let mut app = App {
        job: Job::failing(2),
    };
    let node = Service
        .focus(job)
        .retry(doubling(2))
        .fallback(async |_, error| Ok(retried(&error).attempts));
    flow(node).run(&mut app).await.unwrap();
    assert_eq!((app.job.calls(), app.job.result), (2, Some(2)));
}

#[test]
fn wrappers_declare_the_actions_of_their_node() {
    let expected = Service.actions();
    assert_eq!(expected.len(), 2);
    assert_eq!(Node::<Job>::actions(&Service.timeout(secs(1))), expected);
    assert_eq!(Service.focus(job).actions(), expected);
}

/// The fallback is a part of `exec`.
#[tokio::test(start_paused = true)]
async fn a_fallback_that_waits_is_timed_out_and_dropped_with_the_run() {
    let slow = async |_, _| {
        tokio::time::sleep(secs(10)).await;
        Ok(7)
    };

    let mut job = Job::failing(9);
    let (outcome, took) = run(Service.fallback(slow), &mut job).await;
    assert!(outcome.is_ok());
    assert_eq!((job.calls(), job.result), (1, Some(7)));
    assert_took(took, secs(10));

    let mut job = Job::failing(9);
    let (outcome, took) = run(Service.fallback(slow).timeout(secs(3)), &mut job).await;
    assert_snapshot!(outcome.unwrap_err(), @"flow `f`, node `call`: exec failed: no outcome within 3s");
    assert_took(took, secs(3));

    let token = cogwork_flow::CancellationToken::new();
    let flow = flow(Service.fallback(slow));
    let mut job = Job::failing(9);
    let mut run = flow.begin().with_cancellation(token.clone());
    let (finished, ()) = tokio::join!(run.finish(&mut job), async {
        tokio::time::sleep(secs(5)).await;
        token.cancel();
    });
    assert!(finished.unwrap_err().is_cancelled());
    assert_eq!((job.calls(), job.result), (1, None));
}
