//! The wrappers of clients around embedders.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use cogwork_llm::{
    Backoff, Budget, Cache, ConcurrencyLimit, Embedder, Embeddings, LlmError, LlmErrorKind, Price,
    Prices, RateLimit, Retry, Timeout, Usage, async_trait,
};
use tokio::time::Instant;

use super::{fails, seconds};

/// Embeds a text as its length, after failing for a while.
#[derive(Clone, Default)]
struct Lengths {
    seen: Arc<Mutex<Vec<Vec<String>>>>,
    failures: Arc<Mutex<Vec<LlmErrorKind>>>,
    takes: Duration,
    dimension: Arc<Mutex<usize>>,
}

impl Lengths {
    fn seen(&self) -> Vec<Vec<String>> {
        self.seen.lock().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Lengths {
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        self.seen.lock().unwrap().push(texts.to_vec());
        tokio::time::sleep(self.takes).await;

        let failure = self.failures.lock().unwrap().pop();
        if let Some(kind) = failure {
            return Err(fails(kind));
        }

        let dimension = *self.dimension.lock().unwrap() + 1;
        let vectors = texts.iter().map(|text| vec![text.len() as f32; dimension]);
        Ok(Embeddings::new(vectors)?.with_usage(Usage::new(100, 0)))
    }

    fn model(&self) -> &str {
        "lengths"
    }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn retries_follow_the_same_policy() {
    let lengths = Lengths::default();
    *lengths.failures.lock().unwrap() = vec![LlmErrorKind::Overloaded, LlmErrorKind::Timeout];
    let embedder = Retry::new(lengths.clone(), Backoff::of::<3>());

    let embeddings = embedder.embed(&texts(&["four"])).await.unwrap();
    assert_eq!(embeddings.vectors(), [[4.0]]);
    assert_eq!(lengths.seen().len(), 3);
    assert_eq!(embedder.model(), "lengths");

    *lengths.failures.lock().unwrap() = vec![LlmErrorKind::InvalidRequest];
    let error = embedder.embed(&texts(&["four"])).await.unwrap_err();
    assert_eq!(error.attempts(), 1);
    assert_eq!(lengths.seen().len(), 4);
}

#[tokio::test(start_paused = true)]
async fn calls_have_a_time_limit() {
    let slow = Lengths {
        takes: seconds(5),
        ..Lengths::default()
    };
    let embedder = Timeout::new(slow).with_total(seconds(2));

    let error = embedder.embed(&texts(&["four"])).await.unwrap_err();
    assert_eq!(error.kind(), LlmErrorKind::Timeout);
}

#[tokio::test(start_paused = true)]
async fn calls_are_limited_in_number_and_rate() {
    let slow = Lengths {
        takes: seconds(1),
        ..Lengths::default()
    };
    let start = Instant::now();
    let one = texts(&["one"]);

    let embedder = ConcurrencyLimit::of::<1>(slow);
    let (first, second) = tokio::join!(embedder.embed(&one), embedder.embed(&one));
    assert!(first.is_ok() && second.is_ok());
    assert_eq!(start.elapsed(), seconds(2));

    let start = Instant::now();
    let rate = std::num::NonZeroU64::new(150).unwrap();
    let embedder = RateLimit::new(Lengths::default()).with_tokens_per_minute(rate);
    embedder.embed(&one).await.unwrap();
    embedder.embed(&texts(&[&"x".repeat(300)])).await.unwrap();
    assert_eq!(start.elapsed(), seconds(60));
}

#[tokio::test]
async fn budgets_count_calls_tokens_and_money() {
    let prices = Prices::new().with_model("lengths", Price::per_million(10_000.0, 0.0));
    let embedder = Budget::new(Lengths::default()).with_money(2.0, prices);

    embedder.embed(&texts(&["one"])).await.unwrap();
    embedder.embed(&texts(&["two"])).await.unwrap();
    let error = embedder.embed(&texts(&["three"])).await.unwrap_err();

    assert_eq!(error.kind(), LlmErrorKind::Budget);
    assert_eq!(embedder.spending().usage, Usage::new(200, 0));
    assert_eq!(embedder.spending().calls, 2);
}

#[tokio::test]
async fn only_texts_without_a_cached_vector_are_embedded() {
    let lengths = Lengths::default();
    let embedder = Cache::new(lengths.clone());

    embedder.embed(&texts(&["a", "bb"])).await.unwrap();
    let embeddings = embedder
        .embed(&texts(&["ccc", "bb", "ccc", "a"]))
        .await
        .unwrap();
    assert_eq!(embeddings.vectors(), [[3.0], [2.0], [3.0], [1.0]]);
    assert_eq!(embeddings.usage(), Some(Usage::new(100, 0)));

    let embeddings = embedder.embed(&texts(&["a"])).await.unwrap();
    assert_eq!(embeddings.usage(), None);
    assert_eq!(lengths.seen(), [texts(&["a", "bb"]), texts(&["ccc"])]);
}

#[tokio::test]
async fn cached_vectors_of_another_dimension_are_replaced() {
    let lengths = Lengths::default();
    let embedder = Cache::new(lengths.clone());
    embedder.embed(&texts(&["a"])).await.unwrap();

    *lengths.dimension.lock().unwrap() = 1;
    let embeddings = embedder.embed(&texts(&["a", "bb"])).await.unwrap();
    assert_eq!(embeddings.vectors(), [[1.0, 1.0], [2.0, 2.0]]);

    embedder.embed(&texts(&["a", "bb"])).await.unwrap();
    assert_eq!(lengths.seen().len(), 3);
}

#[tokio::test]
async fn caches_of_vectors_are_bounded() {
    let lengths = Lengths::default();
    let embedder = Cache::new(lengths.clone()).with_max_entries(1);
    for text in ["a", "b", "a"] {
        embedder.embed(&texts(&[text])).await.unwrap();
    }

    assert_eq!(lengths.seen().len(), 3);
}

#[tokio::test(start_paused = true)]
async fn wrappers_can_be_stacked() {
    let lengths = Lengths::default();
    *lengths.failures.lock().unwrap() = vec![LlmErrorKind::Server];

    let limited = ConcurrencyLimit::new(lengths.clone(), NonZeroUsize::MIN);
    let budget = Budget::new(limited).with_calls(2);
    let embedder: Arc<dyn Embedder> = Arc::new(Cache::new(Retry::new(budget, Backoff::of::<2>())));

    embedder.embed(&texts(&["a"])).await.unwrap();
    embedder.embed(&texts(&["a"])).await.unwrap();
    assert_eq!(lengths.seen().len(), 2);
}
