//! Reading, rendering and comparing plans of 10,000 steps.

use cogwork_benches::{BoxError, criterion, each, flat_plan, nested_plan, ratio};
use cogwork_plan::{Plan, Step, format_plan, format_plan_for_prompt};
use criterion::Throughput;

const STEPS: usize = 10_000;

fn reversed(plan: &Plan) -> Plan {
    plan.steps().iter().rev().cloned().collect()
}

fn reworded(plan: &Plan) -> Plan {
    let reworded = |step: &Step| Step {
        description: format!("{} again", step.description),
        ..step.clone()
    };
    plan.steps().iter().map(reworded).collect()
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let plan = nested_plan(STEPS);
    let yaml = format_plan_for_prompt(&plan);

    if serde_yaml::from_str::<Plan>(&yaml)? != plan {
        return Err("the plan did not survive its text".into());
    }

    let mut group = criterion.benchmark_group("plan/10,000 steps");
    group.throughput(Throughput::Elements(STEPS as u64));
    group.bench_function("outline", |b| b.iter(|| format_plan(&plan)));
    group.bench_function("for the prompt", |b| {
        b.iter(|| format_plan_for_prompt(&plan))
    });
    group.bench_function("mermaid", |b| b.iter(|| plan.mermaid().to_string()));
    group.sample_size(10);
    group.bench_function("read from YAML", |b| {
        b.iter_with_large_drop(|| serde_yaml::from_str::<Plan>(&yaml))
    });
    group.finish();

    // All on one level: among the steps of one parent the search for what is the same is longest.
    let flat = flat_plan(STEPS);
    let mut group = criterion.benchmark_group("plan/changes since, 10,000 steps");
    group.throughput(Throughput::Elements(STEPS as u64));
    let cases = [
        ("same", flat.clone()),
        ("reversed", reversed(&flat)),
        ("reworded", reworded(&flat)),
    ];

    for (name, later) in &cases {
        group.bench_function(*name, |b| {
            b.iter_with_large_drop(|| later.changes_since(&flat))
        });
    }

    group.finish();

    let read = || each(1, || serde_yaml::from_str::<Plan>(&yaml));
    ratio("reading YAML / writing it for the prompt", read, || {
        each(5, || format_plan_for_prompt(&plan))
    });
    let small = flat_plan(STEPS / 10);
    let small_cases = [small.clone(), reversed(&small), reworded(&small)];

    for ((name, later), small_later) in cases.iter().zip(&small_cases) {
        ratio(
            &format!("changes since, {name}: a step of 10,000 / of 1,000"),
            || each(1, || later.changes_since(&flat)),
            || each(10, || small_later.changes_since(&small)) * 10,
        );
    }

    criterion.final_summary();
    Ok(())
}
