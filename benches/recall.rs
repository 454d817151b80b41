//! Recall over 10,000 passages, compared with a plain loop over vectors in memory.

use std::hint::black_box;
use std::num::NonZeroUsize;

use cogwork_benches::{BoxError, criterion, each, ratio, runtime};
use cogwork_llm::{Embedder, Embeddings, HashedNgrams, LlmError};
use cogwork_recall::{Passage, Query, VectorMemory};
use criterion::{BenchmarkId, Throughput};

const PASSAGES: usize = 10_000;
/// The number of passages that are added at once.
const BATCH: usize = 1_000;
/// Every tenth source is searched with a filter.
const SOURCES: usize = 10;

fn text(number: usize) -> String {
    let words = ["oak", "river", "lamp", "ticket", "window", "salt", "engine"];
    let word = |place: usize| words.get((number / (place + 1)) % words.len());
    let words: Vec<_> = (0..8).filter_map(word).copied().collect();

    format!("{} {number}", words.join(" "))
}

fn query() -> Query {
    Query::new("a river under the window").with_limit(10)
}

async fn fill(memory: &VectorMemory) -> Result<(), BoxError> {
    let numbers: Vec<_> = (0..PASSAGES).collect();
    for batch in numbers.chunks(BATCH) {
        let passages = batch.iter().map(|number| {
            let source = format!("source {}", number % SOURCES);
            Passage::new(text(*number)).with_source(source)
        });
        memory.insert(passages).await?;
    }

    Ok(())
}

async fn vectors(embedder: &HashedNgrams) -> Result<Embeddings, LlmError> {
    let texts: Vec<_> = (0..PASSAGES).map(text).collect();
    embedder.embed(&texts).await
}

/// Returns the highest score.
fn compare(vectors: &[Vec<f32>], query: &[f32]) -> f32 {
    let score = |vector: &Vec<f32>| vector.iter().zip(query).map(|(a, b)| a * b).sum::<f32>();
    vectors.iter().map(score).fold(f32::MIN, f32::max)
}

fn main() -> Result<(), BoxError> {
    let mut criterion = criterion();
    let runtime = runtime()?;
    let folder = tempfile::tempdir()?;

    let mut group = criterion.benchmark_group("recall/10,000 passages");
    group.throughput(Throughput::Elements(PASSAGES as u64));
    let mut memories = Vec::new();
    for dimension in [384_usize, 1_536] {
        let embedder = HashedNgrams::new()
            .with_dimension(NonZeroUsize::new(dimension).ok_or("a dimension is 0")?);
        let path = folder.path().join(format!("{dimension}.db"));
        let memory = runtime.block_on(VectorMemory::open(path, embedder.clone()))?;
        runtime.block_on(fill(&memory))?;

        let case = |name| BenchmarkId::new(name, format!("{dimension} dimensions"));
        group.bench_function(case("all sources"), |b| {
            b.iter(|| runtime.block_on(memory.recall(&query())))
        });
        group.bench_function(case("one source of ten"), |b| {
            let query = query().with_sources(|source| source == "source 3");
            b.iter(|| runtime.block_on(memory.recall(&query)))
        });
        memories.push((dimension, embedder, memory));
    }
    group.finish();

    for (dimension, embedder, memory) in &memories {
        let vectors = runtime.block_on(vectors(embedder))?.into_vectors();
        let query = vectors.first().cloned().unwrap_or_default();
        ratio(
            &format!("recall of {dimension} dimensions / loop over vectors in memory"),
            || each(1, || runtime.block_on(memory.recall(&self::query()))),
            || each(1, || compare(black_box(&vectors), black_box(&query))),
        );
    }

    criterion.final_summary();
    Ok(())
}
