//! A step of a run and runs that wait, beside a loop written by hand that does the same work; and building a flow.

use std::sync::Arc;
use std::time::Duration;
use std::{env, io};

use cogwork_benches::{BoxError, BoxFuture, HandWritten, each, print, ratio, runtime};
use cogwork_flow::{Action, CancellationToken, Flow, Node};
use peak_alloc::PeakAlloc;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

const AGAIN: &str = "again";
const STOP: &str = "stop";

struct Counter {
    left: u64,
    /// How long each step waits.
    wait: Duration,
}

/// The work of a step.
async fn count_down(left: u64, wait: Duration) -> io::Result<u64> {
    if !wait.is_zero() {
        sleep(wait).await;
    }
    left.checked_sub(1)
        .ok_or_else(|| io::Error::other("nothing left to count"))
}

fn chosen(left: u64) -> &'static str {
    if left == 0 { STOP } else { AGAIN }
}

struct CountDown;

impl Node<Counter> for CountDown {
    type Prep = (u64, Duration);
    type Exec = u64;
    type Error = io::Error;

    fn actions(&self) -> Vec<Action> {
        vec![AGAIN.into(), STOP.into()]
    }

    fn prep(&self, counter: &mut Counter) -> io::Result<(u64, Duration)> {
        Ok((counter.left, counter.wait))
    }

    async fn exec(&self, (left, wait): &(u64, Duration)) -> io::Result<u64> {
        count_down(*left, *wait).await
    }

    fn post(&self, counter: &mut Counter, _: (u64, Duration), left: u64) -> io::Result<Action> {
        counter.left = left;
        Ok(chosen(left).into())
    }
}

fn by_hand(counter: &mut Counter) -> BoxFuture<'_> {
    Box::pin(async move {
        counter.left = count_down(counter.left, counter.wait).await?;
        Ok(chosen(counter.left))
    })
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("node {index}")).collect()
}

/// A ring of nodes; of one node, it is a loop.
fn ring(names: &[String]) -> Result<Flow<Counter>, BoxError> {
    let flow = Flow::builder("ring").start(names.first().ok_or("no node")?);
    let next = names.iter().cycle().skip(1);
    let flow = names.iter().zip(next).fold(flow, |flow, (name, next)| {
        flow.node(name, CountDown)
            .edge(name, AGAIN, next)
            .end(name, STOP)
    });

    Ok(flow.build()?)
}

fn steps(runtime: &Runtime, steps: u64, side: Option<&str>) -> Result<(), BoxError> {
    let flow = ring(&names(1))?;
    let by_hand = HandWritten::repeated(by_hand, AGAIN, STOP);
    let counter = || Counter {
        left: steps,
        wait: Duration::ZERO,
    };

    let token = CancellationToken::new();
    let own = || {
        let run = flow.begin().with_max_steps(steps);
        let mut run = run.with_cancellation(token.clone());
        runtime.block_on(run.finish(&mut counter())).map(drop)
    };
    let hand = || runtime.block_on(by_hand.run(&mut counter()));

    // One side alone, once, so that another program can count its instructions.
    match side {
        Some("flow") => return Ok(own()?),
        Some(_) => return hand(),
        None => {}
    }

    // What fails once fails always: the measured runs need no look at their results.
    own()?;
    hand()?;
    ratio(
        "1,000 steps: flow / by hand",
        || each(20, own),
        || each(20, hand),
    );
    Ok(())
}

const RUNS: usize = 10_000;
const WAIT: Duration = Duration::from_millis(10);

fn waiting_runs(runtime: &Runtime) -> Result<(), BoxError> {
    let flow = Arc::new(ring(&names(1))?);
    let by_hand = Arc::new(HandWritten::repeated(by_hand, AGAIN, STOP));
    let counter = || Counter {
        left: 3,
        wait: WAIT,
    };

    let own = runtime.block_on(all_at_once(|| {
        let flow = Arc::clone(&flow);
        async move {
            flow.run(&mut counter()).await?;
            Ok(())
        }
    }))?;
    let hand = runtime.block_on(all_at_once(|| {
        let by_hand = Arc::clone(&by_hand);
        async move { by_hand.run(&mut counter()).await }
    }))?;

    print("bytes of a run that waits, with its task and timer", own);
    print("the same by hand", hand);
    Ok(())
}

/// Spawns [`RUNS`] tasks. Returns the bytes that each of them uses once all wait.
async fn all_at_once<F>(run: impl Fn() -> F) -> Result<usize, BoxError>
where
    F: Future<Output = Result<(), BoxError>> + Send + 'static,
{
    let before = ALLOCATED.current_usage();
    let mut runs = JoinSet::new();
    (0..RUNS).for_each(|_| drop(runs.spawn(run())));
    sleep(WAIT / 2).await;

    let bytes = ALLOCATED.current_usage().saturating_sub(before);
    while let Some(done) = runs.join_next().await {
        done??;
    }
    Ok(bytes / RUNS)
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let arguments: Vec<String> = env::args().collect();
    if let [_, side, number] = arguments.as_slice()
        && let Ok(number) = number.parse()
    {
        return steps(&runtime, number, Some(side));
    }

    steps(&runtime, 1_000, None)?;
    waiting_runs(&runtime)?;

    // Before the clock starts, because a program has its names already.
    let names = names(1_000);
    let built = (0..20).map(|_| each(10, || ring(&names))).min();
    let built = built.unwrap_or_default();
    print("building 1,000 nodes", format_args!("{built:.1?}"));
    Ok(())
}

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;
