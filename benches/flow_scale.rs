//! Flows of many nodes, runs of many steps, and many runs at once, beside loops written by hand.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use cogwork_benches::{BoxError, BoxFuture, IndexedLoop, criterion, each, print, ratio, runtime};
use cogwork_flow::{Action, Flow, from_fn, from_phases};
use criterion::{BenchmarkId, Throughput};
use peak_alloc::PeakAlloc;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use tokio::time::sleep;

const AGAIN: &str = "again";
const STOP: &str = "stop";

/// A ring of nodes that counts down.
fn ring(nodes: usize) -> Result<Flow<u64>, BoxError> {
    let name = |index: usize| format!("node {index}");
    let flow = (0..nodes).fold(Flow::builder("ring").start(name(0)), |flow, index| {
        let count = from_fn(|left: &mut u64| {
            *left -= 1;
            Action::from_static(if *left == 0 { STOP } else { AGAIN })
        });
        flow.node(name(index), count.with_actions([AGAIN, STOP]))
            .edge(name(index), AGAIN, name((index + 1) % nodes))
            .end(name(index), STOP)
    });

    Ok(flow.build()?)
}

fn run(runtime: &Runtime, flow: &Flow<u64>, steps: u64) -> Result<(), BoxError> {
    let ended = runtime.block_on(flow.begin().with_max_steps(steps).finish(&mut { steps }))?;
    if ended.steps == steps {
        Ok(())
    } else {
        Err("the run was short".into())
    }
}

const RUNS: usize = 10_000;
const STEPS: u32 = 10;
const WAIT: Duration = Duration::from_millis(10);

struct Counter {
    left: u32,
}

async fn wait_and_count(left: u32) -> io::Result<u32> {
    sleep(WAIT).await;
    Ok(left - 1)
}

fn chosen(left: u32) -> &'static str {
    if left == 0 { STOP } else { AGAIN }
}

fn waiting_flow() -> Result<Flow<Counter>, BoxError> {
    let node = from_phases(
        |counter: &mut Counter| counter.left,
        wait_and_count,
        |counter, left| {
            counter.left = left;
            Action::from_static(chosen(left))
        },
    );

    let flow = Flow::builder("wait")
        .start("wait")
        .node("wait", node.with_actions([AGAIN, STOP]));
    Ok(flow.edge("wait", AGAIN, "wait").end("wait", STOP).build()?)
}

fn waiting_boxed(counter: &mut Counter) -> BoxFuture<'_> {
    Box::pin(async move {
        counter.left = wait_and_count(counter.left).await?;
        Ok(chosen(counter.left))
    })
}

fn waiting_by_hand() -> IndexedLoop<Counter> {
    let mut by_hand = IndexedLoop::default();
    by_hand.add(waiting_boxed, vec![(AGAIN, Some(0)), (STOP, None)]);
    by_hand
}

/// Spawns [`RUNS`] tasks and waits until all are done; answers the bytes in use once all were spawned
/// and polled.
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

    Ok(bytes)
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let mut criterion = criterion();

    let mut group = criterion.benchmark_group("flow_scale/nodes, 100,000 steps");
    for nodes in [10, 1_000, 100_000] {
        let flow = ring(nodes)?;
        run(&runtime, &flow, 100_000)?;
        group.throughput(Throughput::Elements(100_000));
        group.bench_function(BenchmarkId::from_parameter(nodes), |b| {
            b.iter(|| run(&runtime, &flow, 100_000));
        });
    }

    group.finish();

    let small = ring(10)?;
    let middle = ring(1_000)?;
    let large = ring(100_000)?;
    let steps = |flow, steps| each(1, || run(&runtime, flow, steps));
    ratio(
        "a step among 1,000 nodes / among 10",
        || steps(&middle, 100_000),
        || steps(&small, 100_000),
    );

    ratio(
        "a step among 100,000 nodes / among 10",
        || steps(&large, 100_000),
        || steps(&small, 100_000),
    );

    // As many steps on both sides, so that both take about as long.
    let short = || {
        each(1, || {
            (0..1_000).try_for_each(|_| run(&runtime, &small, 1_000))
        })
    };

    ratio(
        "a step of 1,000,000 / a step of 1,000",
        || steps(&small, 1_000_000),
        short,
    );

    let single = || {
        each(1, || {
            (0..1_000_000).try_for_each(|_| run(&runtime, &small, 1))
        })
    };

    ratio("a run of one step / a step of 1,000,000", single, || {
        steps(&small, 1_000_000)
    });

    let flow = Arc::new(waiting_flow()?);
    let by_hand = Arc::new(waiting_by_hand());
    let own = || {
        let flow = Arc::clone(&flow);
        async move {
            flow.run(&mut Counter { left: STEPS }).await?;
            Ok(())
        }
    };

    let hand = || {
        let by_hand = Arc::clone(&by_hand);
        async move { by_hand.run(&mut Counter { left: STEPS }).await }
    };
    let flow_bytes = runtime.block_on(all_at_once(own))?;
    let hand_bytes = runtime.block_on(all_at_once(hand))?;
    print(
        "bytes a run of 10,000 at once, the task and its timer counted",
        flow_bytes / RUNS,
    );
    print("the same by hand", hand_bytes / RUNS);
    print(
        "bytes a run more than by hand",
        flow_bytes.saturating_sub(hand_bytes) / RUNS,
    );
    ratio(
        "10,000 runs of 10 steps of 10 ms: flow / by hand",
        || each(1, || runtime.block_on(all_at_once(own))),
        || each(1, || runtime.block_on(all_at_once(hand))),
    );

    criterion.final_summary();
    Ok(())
}

#[global_allocator]
static ALLOCATED: PeakAlloc = PeakAlloc;
