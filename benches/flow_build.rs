//! Wiring a flow and checking it whole.

use cogwork_benches::{BoxError, criterion, each, ratio};
use cogwork_flow::{BuildError, Flow, from_fn};
use criterion::{BenchmarkId, Throughput};

fn build(names: &[String]) -> Result<Flow<u64>, BuildError> {
    let start = names.first().map_or("", String::as_str);
    let mut flow = Flow::builder("chain").start(start);
    for name in names {
        flow = flow.node(name, from_fn(|count: &mut u64| *count += 1));
    }

    for (from, to) in names.iter().zip(names.iter().skip(1)) {
        flow = flow.edge(from, "default", to);
    }

    flow.end(names.last().map_or("", String::as_str), "default")
        .build()
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("node {index}")).collect()
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let mut group = criterion.benchmark_group("flow_build");
    for count in [10, 1_000, 10_000] {
        let names = names(count);
        build(&names)?;
        group.throughput(Throughput::Elements(count as u64));
        group.bench_function(BenchmarkId::from_parameter(count), |b| {
            b.iter_with_large_drop(|| build(&names))
        });
    }

    group.finish();
    let large = names(10_000);
    let small = names(1_000);

    // Ten of the small ones, so that both take about as long and as much is taken from them by others.
    ratio(
        "a node of 10,000 / a node of 1,000",
        || each(1, || build(&large)),
        || each(10, || build(&small)) * 10,
    );

    criterion.final_summary();
    Ok(())
}
