//! One step of a run, beside loops written by hand that do the same work.
//!
//! The flow is a ring of nodes that counts a number down: of one node it is a self-loop, of 1,000 a chain.
//! A limit of steps and a cancellation token are always in force, and in one variant a retry.

use std::io;

use cogwork_benches::{
    BoxError, BoxFuture, IndexedLoop, NamedLoop, criterion, each, ratio, runtime,
};
use cogwork_flow::{Action, Backoff, CancellationToken, Flow, Node};
use criterion::{Criterion, Throughput};
use tokio::runtime::Runtime;

const STEPS: u64 = 1_000;
const AGAIN: &str = "again";
const STOP: &str = "stop";

struct Counter {
    left: u64,
}

/// The work of a step, the same for all loops.
async fn count_down(left: u64) -> io::Result<u64> {
    left.checked_sub(1)
        .ok_or_else(|| io::Error::other("nothing left to count"))
}

fn chosen(left: u64) -> &'static str {
    if left == 0 { STOP } else { AGAIN }
}

struct CountDown;

impl Node<Counter> for CountDown {
    type Prep = u64;
    type Exec = u64;
    type Error = io::Error;

    fn actions(&self) -> Vec<Action> {
        vec![AGAIN.into(), STOP.into()]
    }

    fn prep(&self, counter: &mut Counter) -> io::Result<u64> {
        Ok(counter.left)
    }

    async fn exec(&self, left: &u64) -> io::Result<u64> {
        count_down(*left).await
    }

    fn post(&self, counter: &mut Counter, _: u64, left: u64) -> io::Result<Action> {
        counter.left = left;
        Ok(chosen(left).into())
    }
}

fn count_down_boxed(counter: &mut Counter) -> BoxFuture<'_> {
    Box::pin(async move {
        counter.left = count_down(counter.left).await?;
        Ok(chosen(counter.left))
    })
}

fn flow_ring<N: Node<Counter> + 'static>(
    length: usize,
    node: impl Fn() -> N,
) -> Result<Flow<Counter>, BoxError> {
    let name = |index: usize| format!("node {index}");
    let flow = (0..length).fold(Flow::builder("ring").start(name(0)), |flow, index| {
        flow.node(name(index), node())
            .edge(name(index), AGAIN, name((index + 1) % length))
            .end(name(index), STOP)
    });

    Ok(flow.build()?)
}

fn indexed_ring(length: usize) -> IndexedLoop<Counter> {
    let mut ring = IndexedLoop::default();
    for index in 0..length {
        ring.add(
            count_down_boxed,
            vec![(AGAIN, Some((index + 1) % length)), (STOP, None)],
        );
    }

    ring
}

fn named_ring(length: usize) -> NamedLoop<Counter> {
    let name = |index: usize| format!("node {index}");
    let mut ring = NamedLoop::default();
    for index in 0..length {
        let edges = [(AGAIN, Some(name((index + 1) % length))), (STOP, None)];
        ring.add(&name(index), count_down_boxed, edges.into());
    }

    ring
}

/// Each run takes [`STEPS`] steps; a run that does not come to its end is no measurement.
struct Runs<'r>(&'r Runtime, CancellationToken);

impl Runs<'_> {
    fn flow(&self, flow: &Flow<Counter>) -> Result<(), BoxError> {
        let mut run = flow
            .begin()
            .with_max_steps(STEPS)
            .with_cancellation(self.1.clone());
        let ended = self.0.block_on(run.finish(&mut Counter { left: STEPS }))?;
        if ended.steps == STEPS {
            Ok(())
        } else {
            Err("the run was short".into())
        }
    }

    fn indexed(&self, ring: &IndexedLoop<Counter>) -> Result<(), BoxError> {
        self.0.block_on(ring.run(&mut Counter { left: STEPS }))
    }

    fn named(&self, ring: &NamedLoop<Counter>) -> Result<(), BoxError> {
        self.0
            .block_on(ring.run("node 0", &mut Counter { left: STEPS }))
    }
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let runs = Runs(&runtime, CancellationToken::new());
    let mut criterion: Criterion = criterion();

    for (shape, length) in [("self-loop", 1), ("1,000-node chain", 1_000)] {
        let flow = flow_ring(length, || CountDown)?;
        let retried = flow_ring(length, || CountDown.retry(Backoff::default()))?;
        let indexed = indexed_ring(length);
        let named = named_ring(length);

        // What fails once fails always: the measured runs need no look at their results.
        runs.flow(&flow)?;
        runs.flow(&retried)?;
        runs.indexed(&indexed)?;
        runs.named(&named)?;

        let mut group = criterion.benchmark_group(format!("flow_step/{shape}"));
        group.throughput(Throughput::Elements(STEPS));
        group.bench_function("flow", |b| b.iter(|| runs.flow(&flow)));
        group.bench_function("flow with retry", |b| b.iter(|| runs.flow(&retried)));
        group.bench_function("by hand, indexed", |b| b.iter(|| runs.indexed(&indexed)));
        group.bench_function("by hand, named", |b| b.iter(|| runs.named(&named)));
        group.finish();

        let own = || each(20, || runs.flow(&flow));
        let by_index = || each(20, || runs.indexed(&indexed));
        ratio(&format!("{shape}: flow / by hand, indexed"), own, by_index);
        ratio(&format!("{shape}: flow / by hand, named"), own, || {
            each(20, || runs.named(&named))
        });
        let retried = || each(20, || runs.flow(&retried));

        ratio(
            &format!("{shape}: flow with retry / by hand, indexed"),
            retried,
            by_index,
        );

        ratio(&format!("{shape}: flow with retry / flow"), retried, own);
    }

    criterion.final_summary();
    Ok(())
}
