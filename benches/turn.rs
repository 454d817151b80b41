//! A whole turn around a model that answers at once: all that Cogwork adds to the model's own time.

use cogwork_benches::{
    BoxError, Canned, criterion, each, nested_plan, ratio, reply, runtime, thinker,
};
use cogwork_cot::{Flow, Reasoning, Reply};
use criterion::Throughput;
use tokio::runtime::Runtime;

const TURNS: u32 = 20;

fn think(runtime: &Runtime, flow: &Flow<Reasoning>) -> Result<Reasoning, BoxError> {
    let mut state = Reasoning::new("How far does a train go in 2.5 h at 60 km/h?");
    let mut run = flow.begin();
    for _ in 0..TURNS {
        runtime.block_on(run.step(&mut state))?;
    }

    Ok(state)
}

fn main() -> Result<(), BoxError> {
    let runtime = runtime()?;
    let mut criterion = criterion();
    for steps in [10, 200] {
        let text = reply(nested_plan(steps)).to_string();
        let flow = thinker(Canned::new(text.clone())).into_flow();
        think(&runtime, &flow)?;
        let mut group = criterion.benchmark_group("turn");

        group.throughput(Throughput::Elements(TURNS.into()));
        group.bench_function(format!("20 turns, plan of {steps} steps"), |b| {
            b.iter(|| think(&runtime, &flow))
        });
        group.finish();
        ratio(
            &format!("plan of {steps} steps: whole turn / Reply::read alone"),
            || each(1, || think(&runtime, &flow)),
            || each(TURNS, || Reply::read(&text, text.len())) * TURNS,
        );
    }

    criterion.final_summary();
    Ok(())
}
