//! The next request of a run, and all of them.
//!
//! The node is the real one; only the model's turns are made once beforehand and given to `post`.

use std::collections::HashMap;
use std::time::Duration;

use cogwork_benches::{
    BoxError, Canned, criterion, nested_plan, print, ratio, reply, runtime, thinker, timed,
};
use cogwork_cot::{ChainOfThought, CotError, Prompts, Reasoning, Turn, TurnOutcome};
use cogwork_flow::Node;
use cogwork_llm::ScriptedClient;
use criterion::{BatchSize, BenchmarkId, Throughput};

const PROBLEM: &str =
    "A train goes 60 km/h for 2.5 h, then 80 km/h for 45 minutes. How far is that?";
const PLAN_STEPS: usize = 10;

struct Scene {
    node: ChainOfThought,
    /// The same node with the same texts, but not the same copy of them: it formats every thought anew.
    stranger: ChainOfThought,
    outcome: Option<TurnOutcome>,
}

impl Scene {
    fn new() -> Result<Self, BoxError> {
        let node = thinker(Canned::new(reply(nested_plan(PLAN_STEPS)).to_string()));
        let turn = node.prep(&mut Reasoning::new(PROBLEM))?;
        let outcome = runtime()?.block_on(node.exec(&turn))?;

        Ok(Self {
            stranger: node.clone().with_prompts(Prompts::default()),
            node,
            outcome,
        })
    }

    fn outcomes(&self, count: usize) -> Vec<Option<TurnOutcome>> {
        vec![self.outcome.clone(); count]
    }

    /// A run with these outcomes, and its requests, one a turn.
    fn run(
        &self,
        outcomes: Vec<Option<TurnOutcome>>,
    ) -> impl Iterator<Item = Result<Option<Turn>, CotError>> {
        let mut state = Reasoning::new(PROBLEM);
        outcomes.into_iter().map(move |outcome| {
            let turn = self.node.prep(&mut state)?;
            self.node.post(&mut state, turn.clone(), outcome)?;
            Ok(turn)
        })
    }

    /// A state of so many thoughts, all but the last of which a request has carried.
    fn state(&self, thoughts: usize) -> Result<Reasoning, CotError> {
        let mut state = Reasoning::new(PROBLEM);
        for outcome in self.outcomes(thoughts) {
            let turn = self.node.prep(&mut state)?;
            self.node.post(&mut state, turn, outcome)?;
        }

        Ok(state)
    }

    /// How long so many requests take that follow this state; the turns between them are not counted.
    fn next(&self, state: &Reasoning, count: u64) -> Duration {
        let mut state = state.clone();
        let mut request = || {
            let mut turn = None;
            let time = timed(|| turn = self.node.prep(&mut state).ok().flatten());

            // Cannot fail: `state` has done the same.
            let _ = self.node.post(&mut state, turn, self.outcome.clone());
            time
        };

        // The first finds the lists of a copy full, as those of a run seldom are.
        request();
        (0..count).map(|_| request()).sum()
    }

    /// How long a request takes when nothing is kept from the one before.
    fn anew(&self, state: &Reasoning) -> Duration {
        let mut state = state.clone();
        timed(|| self.stranger.prep(&mut state))
    }

    /// Makes all requests of a run and lets go of each.
    fn pass(&self, outcomes: Vec<Option<TurnOutcome>>) -> usize {
        self.run(outcomes).filter(Result::is_ok).count()
    }

    /// Makes all requests of a run and keeps them.
    fn keep(&self, outcomes: Vec<Option<TurnOutcome>>) -> Vec<Result<Option<Turn>, CotError>> {
        self.run(outcomes).collect()
    }
}

/// Prints what the requests of a run carry, and what they hold together: a message that two of them
/// share stands in memory once.
fn print_shared(thoughts: usize) -> Result<(), BoxError> {
    let text = reply(nested_plan(PLAN_STEPS)).to_string();
    let script = ScriptedClient::new(vec![text; thoughts]);
    let flow = thinker(script.clone()).into_flow();
    let mut state = Reasoning::new(PROBLEM);
    let runtime = runtime()?;
    let mut run = flow.begin();

    for _ in 0..thoughts {
        runtime.block_on(run.step(&mut state))?;
    }

    let requests = script.requests();
    let messages = || requests.iter().flat_map(|request| request.messages());
    let held: HashMap<*const u8, usize> = messages()
        .map(|message| (message.text().as_ptr(), message.text().len()))
        .collect();
    let (carried, carried_bytes) = messages().fold((0, 0), |(count, bytes), message| {
        (count + 1, bytes + message.text().len())
    });
    let kept = held.len();
    let kept_bytes = held.values().sum::<usize>();
    let found =
        format!("{carried} messages in {carried_bytes} bytes, kept as {kept} in {kept_bytes}");

    print(&format!("requests of {thoughts} thoughts"), found);
    Ok(())
}

fn main() -> Result<(), BoxError> {
    let scene = Scene::new()?;
    let mut criterion = criterion();

    let mut group = criterion.benchmark_group("request_build/next, at turn");
    for thoughts in [10, 100, 1_000] {
        let state = scene.state(thoughts)?;
        group.bench_function(BenchmarkId::new("next", thoughts), |b| {
            b.iter_custom(|count| {
                (0..count)
                    .step_by(20)
                    .map(|done| scene.next(&state, 20.min(count - done)))
                    .sum()
            })
        });

        group.bench_function(BenchmarkId::new("all formatted anew", thoughts), |b| {
            b.iter_custom(|count| (0..count).map(|_| scene.anew(&state)).sum())
        });
    }

    group.finish();

    let mut group = criterion.benchmark_group("request_build/all of a run");
    group.sample_size(10);
    for thoughts in [100, 1_000, 10_000] {
        group.throughput(Throughput::Elements(thoughts as u64));
        group.bench_function(BenchmarkId::new("passed on", thoughts), |b| {
            b.iter_batched(
                || scene.outcomes(thoughts),
                |turns| scene.pass(turns),
                BatchSize::PerIteration,
            )
        });

        group.bench_function(BenchmarkId::new("all kept", thoughts), |b| {
            b.iter_batched(
                || scene.outcomes(thoughts),
                |turns| scene.keep(turns),
                BatchSize::PerIteration,
            )
        });
    }

    group.finish();

    let young = scene.state(10)?;
    let old = scene.state(1_000)?;
    ratio(
        "next request at turn 1,000 / at turn 10",
        || scene.next(&old, 20),
        || scene.next(&young, 20),
    );

    ratio(
        "turn 1,000: formatted anew / next",
        || scene.anew(&old),
        || scene.next(&old, 20) / 20,
    );

    // Ten short runs beside a long one, so that both take about as long.
    let passed_on = |runs: usize, thoughts: usize| -> Duration {
        (0..runs)
            .map(|_| scene.outcomes(thoughts))
            .map(|turns| timed(|| scene.pass(turns)))
            .sum()
    };

    let kept = |runs: usize, thoughts: usize| -> Duration {
        (0..runs)
            .map(|_| scene.outcomes(thoughts))
            .map(|turns| timed(|| scene.keep(turns)))
            .sum()
    };

    ratio(
        "a thought of 1,000 / of 100",
        || passed_on(1, 1_000),
        || passed_on(10, 100),
    );

    ratio(
        "a thought of 10,000 / of 1,000",
        || passed_on(1, 10_000),
        || passed_on(10, 1_000),
    );

    ratio(
        "all kept: a thought of 10,000 / of 1,000",
        || kept(1, 10_000),
        || kept(10, 1_000),
    );

    print_shared(100)?;
    print_shared(1_000)?;
    criterion.final_summary();

    Ok(())
}
