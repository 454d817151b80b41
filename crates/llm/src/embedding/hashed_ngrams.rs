use std::hash::Hasher;

use async_trait::async_trait;
use siphasher::sip::SipHasher13;
use tokio::task::yield_now;

use super::{Embedder, Embeddings};
use crate::LlmError;

/// The number of characters of a fragment of a word.
const FRAGMENT: usize = 3;
/// How much a whole word counts, compared with one of its fragments.
const WORD_WEIGHT: i32 = 2;
/// The length of the vectors.
const DIMENSION: usize = 512;

/// An embedder that needs neither a server nor a model: it counts words and fragments of words.
///
/// **It compares spelling, not meaning.** "car" and "cars" are similar, "car" and "automobile"
/// aren't, and neither are translations. Frequent words such as "the" count as much as others. Use
/// it for tests, examples and programs that must run offline, and an embedding model for everything
/// else.
///
/// Each word in lower case, and each fragment of three characters in it, is hashed to one of the
/// 512 numbers of the vector and a sign. The vectors have length 1, except for those of texts without
/// letters and digits, which contain only zeros. They are the same on every platform and in every
/// version with the same [model name](Embedder::model).
///
/// ```
/// use cogwork_llm::LlmError;
/// use cogwork_llm::embedding::{Embedder, HashedNgrams};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let embedder = HashedNgrams::new();
/// assert_eq!(embedder.model(), "hashed-ngrams-v1-512");
///
/// let texts = ["opening hours", "hours of opening", "red shoes"].map(str::to_owned);
/// let embeddings = embedder.embed(&texts).await?;
/// let [first, second, third] = embeddings.vectors() else { panic!() };
/// let similarity = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>();
/// assert!(similarity(first, second) > 0.8);
/// assert!(similarity(first, third) < 0.2);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct HashedNgrams(());

impl HashedNgrams {
    /// Creates an embedder.
    pub fn new() -> Self {
        Self::default()
    }
}

fn vector(text: &str) -> Vec<f32> {
    let mut counts = vec![0; DIMENSION];
    let text = text.to_lowercase();
    let words = text.split(|c: char| !c.is_alphanumeric());

    for word in words.filter(|word| !word.is_empty()) {
        add(&mut counts, word, WORD_WEIGHT);
        for fragment in fragments(word) {
            add(&mut counts, &fragment, 1);
        }
    }

    unit(&counts)
}

/// Returns the fragments of a word, whose beginning and end are marked by spaces.
fn fragments(word: &str) -> impl Iterator<Item = String> {
    let marked: Vec<char> = [' '].into_iter().chain(word.chars()).chain([' ']).collect();

    let count = marked.len().saturating_sub(FRAGMENT - 1);
    (0..count).map(move |start| marked.iter().skip(start).take(FRAGMENT).collect())
}

fn add(counts: &mut [i32], feature: &str, weight: i32) {
    let mut hasher = SipHasher13::new();
    hasher.write(feature.as_bytes());
    let hash = hasher.finish();

    // The highest bit is the sign, so that chance collisions cancel each other out on average.
    let signed = if hash >> 63 == 0 { weight } else { -weight };
    let place = (hash & (u64::MAX >> 1)) % DIMENSION as u64;
    if let Some(count) = counts.get_mut(place as usize) {
        *count = count.saturating_add(signed);
    }
}

/// Returns a vector of length 1. The square root keeps repeated words from outweighing all others.
fn unit(counts: &[i32]) -> Vec<f32> {
    let sizes = counts.iter().map(|count| f64::from(count.unsigned_abs()));
    // At least 1, because a text without words has no length to divide by.
    let norm = sizes.sum::<f64>().max(1.0).sqrt();

    let number = |count: &i32| {
        let size = f64::from(count.unsigned_abs()).sqrt() / norm;
        (size * f64::from(count.signum())) as f32
    };
    counts.iter().map(number).collect()
}

#[async_trait]
impl Embedder for HashedNgrams {
    /// Never returns an error.
    async fn embed(&self, texts: &[String]) -> Result<Embeddings, LlmError> {
        let mut vectors = Vec::new();
        for text in texts {
            vectors.push(vector(text));
            // Many texts must not delay other tasks.
            yield_now().await;
        }

        Ok(Embeddings::new(vectors)?.with_model(self.model()))
    }

    fn model(&self) -> &str {
        "hashed-ngrams-v1-512"
    }

    fn dimension(&self) -> Option<usize> {
        Some(DIMENSION)
    }
}
