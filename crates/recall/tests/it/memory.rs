//! Passages are found by their meaning, within limits, also by concurrent callers.

use std::sync::Arc;

use cogwork_llm::embedding::{Embedder, Embeddings};
use cogwork_llm::{LlmError, LlmErrorKind, async_trait};
use cogwork_recall::{Passage, Query, RecallError, VectorMemory};
use cogwork_thinking::memory::Memory;

use crate::support::{colours, found, open, place};

async fn palette() -> VectorMemory {
    let memory = colours();
    let passages = [
        Passage::new("green leaves").with_source("trees/leaf"),
        Passage::new("red apples").with_source("fruit").with_line(7),
        Passage::new("orange oranges").with_source("fruit"),
        Passage::new("cyan sky"),
        Passage::new("something else").with_source("trees/bark"),
    ];
    memory.insert(passages).await.unwrap();

    memory
}

#[tokio::test]
async fn similar_passages_are_found_best_first() {
    let memory = palette().await;
    let recalled = memory.recall(&Query::new("red")).await.unwrap();

    let scores = recalled
        .iter()
        .map(|found| (found.text.as_str(), found.score));
    // Neither length nor order of insertion matters, but the latter decides between equals.
    let expected = [
        ("red apples", 1.0),
        ("orange oranges", 0.894_427_2),
        ("green leaves", 0.0),
        ("something else", 0.0),
    ];
    assert_eq!(scores.collect::<Vec<_>>(), expected);
    assert_eq!(recalled[0].source, "fruit");
    assert_eq!(recalled[0].line, 7);
}

#[tokio::test]
async fn queries_limit_number_score_and_sources() {
    let memory = palette().await;
    let query = || Query::new("red");
    let trees = query().with_sources(|source| source.starts_with("trees/"));
    for (query, expected) in [
        (query().with_limit(1), &["red apples"][..]),
        (query().with_limit(0), &[]),
        (Query::new(" \n"), &[]),
        (
            query().with_min_score(0.5),
            &["red apples", "orange oranges"],
        ),
        (query().with_min_score(f32::NAN), &[]),
        (trees, &["green leaves", "something else"]),
    ] {
        assert_eq!(found(&memory, query).await, expected);
    }
    assert_eq!(found(&memory, query().with_min_score(-1.0)).await.len(), 5);
}

#[tokio::test]
async fn sources_are_replaced_and_removed() {
    let memory = palette().await;
    let replaced = [Passage::new("yellow bananas"), Passage::new("red cherries")];
    memory.replace_source("fruit", replaced).await.unwrap();
    let two = found(&memory, Query::new("red").with_limit(2)).await;
    assert_eq!(two, ["red cherries", "yellow bananas"]);
    let sources = ["fruit", "trees/bark", "trees/leaf"];
    assert_eq!(memory.sources().await.unwrap(), sources);

    assert_eq!(memory.remove_source("fruit").await.unwrap(), 2);
    assert_eq!(memory.remove_source("fruit").await.unwrap(), 0);
    assert_eq!(memory.count().await.unwrap(), 3);
    let red = found(&memory, Query::new("red").with_min_score(0.1)).await;
    assert!(red.is_empty(), "{red:?}");
}

#[tokio::test]
async fn full_memories_refuse_more_and_stay_as_they_are() {
    let memory = colours().with_max_passages(2);
    let red = Passage::new("red").with_source("a");
    memory.insert([red]).await.unwrap();

    let two = || [Passage::new("green"), Passage::new("yellow")];
    let error = memory.insert(two()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the memory `in memory` has 1 passages, and 2 more exceed its limit of 2; \
         remove sources, or raise the limit"
    );
    assert_eq!(memory.count().await.unwrap(), 1);

    // What is replaced makes room.
    memory.replace_source("a", two()).await.unwrap();
    let three = two().into_iter().chain([Passage::new("cyan")]);
    memory.replace_source("a", three).await.unwrap_err();
    assert_eq!(memory.count().await.unwrap(), 2);

    for text in [&"long ".repeat(4_000), "", " \n "] {
        let passages = [Passage::new("red"), Passage::new(text)];
        let error = memory.insert(passages).await.unwrap_err();
        let is_second = matches!(error, RecallError::Unusable { number: 2, .. });
        assert!(is_second, "{error}");
    }
}

#[tokio::test]
async fn clients_remember_and_forget_notes() {
    let memory = colours().with_max_passages(3);
    let book = Passage::new("red book").with_source("shelf");
    memory.insert([book]).await.unwrap();

    let notes: Arc<dyn Memory> = Arc::new(memory.clone());
    for note in ["red one", "red two", "red three"] {
        notes.add(note).await.unwrap();
    }

    // The oldest note has made room, and the source hasn't.
    let found = notes.search("red", 10, 0.5).await.unwrap();
    let texts: Vec<_> = found.iter().map(|found| found.text()).collect();
    assert_eq!(texts, ["red book", "red two", "red three"]);

    let error = memory.with_max_passages(0).add("red").await.unwrap_err();
    let told = error.to_string();
    assert!(told.contains("exceed its limit of 0"), "{told}");
}

/// Returns vectors that don't fit.
struct Broken(Vec<Vec<f32>>);

#[async_trait]
impl Embedder for Broken {
    async fn embed(&self, _: &[String]) -> Result<Embeddings, LlmError> {
        Embeddings::new(self.0.clone())
    }

    fn model(&self) -> &str {
        "broken"
    }
}

#[tokio::test]
async fn unusable_embeddings_are_refused() {
    for vectors in [vec![], vec![vec![1.0], vec![1.0]], vec![vec![f32::NAN]]] {
        let memory = VectorMemory::in_memory(Broken(vectors)).unwrap();
        let error = memory.insert([Passage::new("text")]).await.unwrap_err();
        let RecallError::Embedding(cause) = &error else {
            panic!("{error}");
        };
        assert_eq!(cause.kind(), LlmErrorKind::Decode);

        let error = memory.recall(&Query::new("text")).await.unwrap_err();
        assert!(matches!(error, RecallError::Embedding(_)), "{error}");
        assert_eq!(memory.count().await.unwrap(), 0);
    }
}

#[tokio::test]
async fn extreme_vectors_are_compared_without_overflow() {
    for size in [f32::MAX, f32::MIN_POSITIVE / 4.0] {
        let memory = VectorMemory::in_memory(Broken(vec![vec![size, -size, size]])).unwrap();
        memory.insert([Passage::new("text")]).await.unwrap();

        let score = memory.recall(&Query::new("text")).await.unwrap()[0].score;
        assert!((score - 1.0).abs() < 1e-5, "{score}");
    }
}

/// Several handles, as several processes would have.
#[tokio::test(flavor = "multi_thread", worker_threads = 8)]
async fn many_tasks_open_and_use_a_new_memory_at_once() {
    for _ in 0..5 {
        let (_folder, path) = place();
        let work = |number: usize| {
            let path = path.clone();
            tokio::spawn(async move {
                let memory = open(&path).await.unwrap();
                for turn in 0..5 {
                    let text = format!("red {number} {turn}");
                    memory.insert([Passage::new(&text)]).await.unwrap();
                    let found = found(&memory, Query::new("red").with_limit(100)).await;
                    assert!(found.contains(&text));
                }
            })
        };

        let tasks: Vec<_> = (0..8).map(work).collect();
        for task in tasks {
            task.await.unwrap();
        }
        let memory = open(&path).await.unwrap();
        assert_eq!(memory.count().await.unwrap(), 40);
    }
}
