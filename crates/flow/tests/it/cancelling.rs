//! A run that is dropped where it waits leaves the state as after the last whole step.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use cogwork_flow::{Action, Flow, Node, Run, from_fn};

/// How often each visit waits.
const WAITS: usize = 3;

/// Waits [`WAITS`] times, and only then writes its number. Knows no runtime.
struct Work(u32);

impl Node<Vec<u32>> for Work {
    type Prep = usize;
    type Exec = usize;
    type Error = Infallible;

    fn prep(&self, log: &mut Vec<u32>) -> Result<usize, Infallible> {
        Ok(log.len())
    }

    async fn exec(&self, len: &usize) -> Result<usize, Infallible> {
        let mut waits = 0..WAITS;
        poll_fn(|_| waits.next().map_or(Poll::Ready(()), |_| Poll::Pending)).await;
        Ok(*len)
    }

    fn post(&self, log: &mut Vec<u32>, _: usize, len: usize) -> Result<Action, Infallible> {
        assert_eq!(log.len(), len, "the state is the one that prep saw");
        log.push(self.0);
        Ok(Action::DEFAULT)
    }
}

struct App {
    log: Vec<u32>,
}

/// Visits 0 to 4: the second and third one subflow deep, the fourth two.
fn flow() -> Flow<App> {
    let deepest = Flow::builder("deepest")
        .node("3", Work(3))
        .chain(["3"])
        .build()
        .unwrap();

    let deep = Flow::builder("deep")
        .start("1")
        .node("1", Work(1))
        .edge("1", "default", "2")
        .node("2", Work(2))
        .edge("2", "default", "deepest")
        .subflow("deepest", deepest, |log| log)
        .end("deepest", "default")
        .build()
        .unwrap();

    Flow::builder("f")
        .start("0")
        .node("0", Work(0).focus(|app: &mut App| &mut app.log))
        .edge("0", "default", "deep")
        .subflow("deep", deep, |app: &mut App| &mut app.log)
        .edge("deep", "default", "4")
        .node("4", Work(4).focus(|app: &mut App| &mut app.log))
        .end("4", "default")
        .build()
        .unwrap()
}

const STEPS: usize = 5;

/// Polls so often, or until there is an outcome, and drops the future.
fn poll_times<T>(times: usize, future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..times {
        if let Poll::Ready(outcome) = future.as_mut().poll(&mut context) {
            return Some(outcome);
        }
    }

    None
}

fn step(run: &mut Run<'_, App>, app: &mut App) {
    poll_times(WAITS + 1, run.step(app))
        .expect("one poll more than it waits")
        .unwrap();
}

#[test]
fn a_step_dropped_at_any_await_can_be_taken_anew() {
    let flow = flow();
    for whole in 0..STEPS {
        for polls in 0..=WAITS {
            let mut app = App { log: Vec::new() };
            let mut run = flow.begin();
            for _ in 0..whole {
                step(&mut run, &mut app);
            }

            // Twice in the same place, as a program that is interrupted again and again.
            for _ in 0..2 {
                assert!(poll_times(polls, run.step(&mut app)).is_none());
                assert!(app.log.iter().copied().eq(0..whole as u32));
                assert_eq!(
                    (run.node(), run.steps()),
                    (Some(&*whole.to_string()), whole as u64)
                );
            }

            while run.node().is_some() {
                step(&mut run, &mut app);
            }

            assert_eq!((app.log, run.steps()), (vec![0, 1, 2, 3, 4], 5));
        }
    }
}

#[test]
fn a_run_dropped_at_any_await_leaves_whole_steps_only() {
    let flow = flow();
    for polls in 0..=STEPS * WAITS {
        let mut app = App { log: Vec::new() };
        assert!(poll_times(polls, flow.run(&mut app)).is_none());

        // The first poll reaches the first await; each step is through after as many more.
        let whole = polls.saturating_sub(1) / WAITS;
        assert!(
            app.log.iter().copied().eq(0..whole as u32),
            "{:?} after {polls} polls",
            app.log
        );
    }

    let mut app = App { log: Vec::new() };
    let ended = poll_times(STEPS * WAITS + 1, flow.run(&mut app))
        .unwrap()
        .unwrap();
    assert_eq!((app.log, ended.steps), (vec![0, 1, 2, 3, 4], 5));
}

/// Nodes that never wait would otherwise keep the runtime to themselves.
#[tokio::test]
async fn a_timeout_fires_around_nodes_that_never_wait() {
    let flow = Flow::builder("busy")
        .start("spin")
        .node("spin", from_fn(|count: &mut u64| *count += 1))
        .edge("spin", "default", "spin")
        .build()
        .unwrap();

    let mut count = 0;
    let mut run = flow.begin().with_max_steps(u64::MAX);
    let ended = tokio::time::timeout(Duration::from_millis(5), run.finish(&mut count)).await;
    assert!(ended.is_err());
    assert_eq!(
        run.steps(),
        count,
        "the state is as after the last whole step"
    );
}
