//! The similarity of texts by their words.

use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::{Found, MemoryLimits};

/// The maximum number of distinct words of a query. Further words are ignored.
const QUERY_WORDS: usize = 256;

/// Items that the clones of a memory share.
#[derive(Debug, Clone, Default)]
pub(super) struct SharedItems(Arc<Mutex<Items>>);

impl SharedItems {
    pub(super) fn search(&self, query: &str, top_k: usize, threshold: f32) -> Vec<Found> {
        self.lock().search(query, top_k, threshold)
    }

    /// Adds an item, and returns how many are kept.
    pub(super) fn push(&self, text: &str, limits: MemoryLimits) -> usize {
        self.lock().push(text, limits)
    }

    /// Returns the newest items, whose scores are 1, 1/2, 1/3 and so on.
    pub(super) fn newest(&self, top_k: usize, threshold: f32) -> Vec<Found> {
        let items = self.lock();
        let newest = items.items.iter().rev().take(top_k).zip(1_u16..);
        let found =
            newest.map(|(item, place)| Found::new(Arc::clone(&item.text), 1.0 / f32::from(place)));

        found
            .take_while(|found| found.score() >= threshold)
            .collect()
    }

    /// Returns the texts, oldest first.
    pub(super) fn texts(&self) -> Vec<Arc<str>> {
        let items = self.lock();
        let texts = items.items.iter().map(|item| Arc::clone(&item.text));
        texts.collect()
    }

    fn lock(&self) -> MutexGuard<'_, Items> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug)]
struct Item {
    text: Arc<str>,
    /// The sorted hashes of the distinct words. The words themselves would take several times the
    /// size of the text.
    words: Box<[u64]>,
}

impl Item {
    fn new(text: &str, hasher: &RandomState) -> Self {
        let mut words: Vec<u64> = words(text).map(|word| hasher.hash_one(word)).collect();
        words.sort_unstable();
        words.dedup();

        Self {
            text: text.into(),
            words: words.into(),
        }
    }

    fn has(&self, word: u64) -> bool {
        self.words.binary_search(&word).is_ok()
    }
}

/// Texts in order of age, with an index of their words.
#[derive(Debug, Default)]
struct Items {
    items: VecDeque<Item>,
    /// The total size of all texts in bytes.
    bytes: usize,
    hasher: RandomState,
}

impl Items {
    /// Adds an item, forgets the oldest ones beyond the limits, and returns how many are kept.
    fn push(&mut self, text: &str, limits: MemoryLimits) -> usize {
        self.bytes += text.len();
        self.items.push_back(Item::new(text, &self.hasher));

        let is_full = |items: &Self| {
            let is_large = items.bytes > limits.total_bytes() && items.items.len() > 1;
            items.items.len() > limits.items() || is_large
        };
        while is_full(self) {
            let Some(oldest) = self.items.pop_front() else {
                break;
            };

            self.bytes -= oldest.text.len();
        }

        self.items.len()
    }

    /// Returns the items with the highest scores. A score is the fraction of the query's words that
    /// an item contains, weighted by how rare they are. Unlike with BM25, such a score has a fixed
    /// scale for a threshold, and a long item gains nothing by repetition.
    fn search(&self, query: &str, top_k: usize, threshold: f32) -> Vec<Found> {
        if top_k == 0 {
            return Vec::new();
        }

        let words = self.query(query);
        let whole: f32 = words.iter().map(|word| word.weight).sum();

        // Newest first, and a stable sort, so that the newer of two equal items comes first.
        let scored = self.items.iter().rev().map(|item| {
            let shared = words.iter().filter(|word| item.has(word.hash));
            let score = shared.map(|word| word.weight).sum::<f32>() / whole;
            Found::new(item.text.clone(), score)
        });

        let mut found: Vec<_> = scored
            .filter(|found| found.score() > 0.0 && found.score() >= threshold)
            .collect();

        found.sort_by(|one, other| other.score().total_cmp(&one.score()));
        found.truncate(top_k);
        found
    }

    /// Returns the distinct words of a query in alphabetical order. Floating-point sums depend on
    /// the order, and with them which of two items ranks first.
    fn query(&self, query: &str) -> Vec<QueryWord> {
        let mut distinct = BTreeSet::new();
        for word in words(query) {
            if distinct.len() >= QUERY_WORDS {
                break;
            }
            distinct.insert(word);
        }

        let weighed = |word: String| {
            let hash = self.hasher.hash_one(word);
            let having = self.items.iter().filter(|item| item.has(hash)).count();
            let weight = (1.0 + (self.items.len() as f32 + 0.5) / (having as f32 + 0.5)).ln();

            QueryWord { hash, weight }
        };

        distinct.into_iter().map(weighed).collect()
    }
}

struct QueryWord {
    hash: u64,
    weight: f32,
}

/// Splits a text into lower-case runs of letters and digits. Scripts without spaces between words
/// are split by character.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text
        .split(|character: char| !character.is_alphanumeric())
        .filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let is_dense =
            |character: char| matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
        match run.contains(is_dense) {
            true => run.chars().map(String::from).collect::<Vec<_>>(),
            false => vec![run.to_lowercase()],
        }
    })
}
