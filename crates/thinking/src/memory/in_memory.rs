use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;

use super::{Found, MAX_BYTES, MAX_ITEMS, Memory, MemoryError, check_size};

/// Texts in memory, searched by words: the newest 10,000, with at most 16 MiB. Clones share the texts.
///
/// The score of an item is the fraction of the query's words that it contains. Words that occur in
/// fewer items weigh more, and of items with equal scores, the newer comes first. Case and
/// punctuation are ignored; Chinese, Japanese and Korean are split by character.
///
/// See [`Memory`] for an example.
#[derive(Debug, Clone, Default)]
pub struct InMemory {
    /// Oldest first.
    items: Arc<Mutex<VecDeque<Item>>>,
}

#[derive(Debug)]
struct Item {
    text: Arc<str>,
    words: BTreeSet<String>,
}

impl InMemory {
    /// Creates an empty memory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an item, and forgets the oldest ones beyond the limits.
    fn push(&self, text: &str) {
        let item = Item {
            text: text.into(),
            words: words(text).collect(),
        };

        let mut items = self.items();
        items.push_back(item);

        // Counted anew, because adding is rare and there are few items.
        let mut bytes: usize = items.iter().map(|item| item.text.len()).sum();
        while items.len() > MAX_ITEMS || bytes > MAX_BYTES {
            bytes -= items.pop_front().map_or(0, |item| item.text.len());
        }
    }

    fn items(&self) -> MutexGuard<'_, VecDeque<Item>> {
        self.items.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Memory for InMemory {
    async fn search(
        &self,
        query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let items = self.items();

        // In alphabetical order, because the sum of floats depends on the order.
        let query: BTreeSet<_> = words(query).take(QUERY_WORDS).collect();
        let weighed = query.iter().map(|word| {
            let having = items.iter().filter(|item| item.words.contains(word));
            (word, weight(items.len(), having.count()))
        });
        let weighed: Vec<_> = weighed.collect();
        let whole: f32 = weighed.iter().map(|(_, weight)| weight).sum();

        // Newest first, and a stable sort, so that the newer of two equal items comes first.
        let scored = items.iter().rev().map(|item| {
            let shared = weighed
                .iter()
                .filter(|(word, _)| item.words.contains(*word));
            let score = shared.map(|(_, weight)| weight).sum::<f32>() / whole;
            Found::new(item.text.clone(), score)
        });
        let mut found: Vec<_> = scored
            .filter(|found| found.score() > 0.0 && found.score() >= threshold)
            .collect();

        found.sort_by(|one, other| other.score().total_cmp(&one.score()));
        found.truncate(top_k);
        Ok(found)
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        check_size(text)?;
        self.push(text);
        Ok(())
    }
}

impl<T: AsRef<str>> FromIterator<T> for InMemory {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let memory = Self::new();
        for text in texts {
            memory.push(text.as_ref());
        }
        memory
    }
}

/// A board that several agents write to, with the same limits as an [`InMemory`]. A search ignores the query and returns the newest items.
/// Clones share the items.
///
/// The newest item has the score 1, the one before it 1/2, then 1/3 and so on, so a threshold of
/// 0.25 returns the four newest.
///
/// ```
/// use cogwork_thinking::memory::{Blackboard, Memory, MemoryError};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), MemoryError> {
/// let board = Blackboard::new();
/// board.add("The survey is done.").await?;
/// board.add("The map is drawn.").await?;
/// let found = board.search("", 1, 0.0).await?;
/// assert_eq!(found[0].text(), "The map is drawn.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Blackboard(InMemory);

impl Blackboard {
    /// Creates an empty board.
    pub fn new() -> Self {
        Self::default()
    }
}

impl<T: AsRef<str>> FromIterator<T> for Blackboard {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        Self(InMemory::from_iter(texts))
    }
}

#[async_trait]
impl Memory for Blackboard {
    async fn search(
        &self,
        _query: &str,
        top_k: usize,
        threshold: f32,
    ) -> Result<Vec<Found>, MemoryError> {
        let items = self.0.items();
        let newest = items.iter().rev().take(top_k).zip(1_u16..);
        let found = newest.map(|(item, rank)| Found::new(item.text.clone(), 1.0 / f32::from(rank)));

        Ok(found
            .take_while(|found| found.score() >= threshold)
            .collect())
    }

    async fn add(&self, text: &str) -> Result<(), MemoryError> {
        self.0.add(text).await
    }
}

/// The maximum number of words of a query. Further words are ignored.
const QUERY_WORDS: usize = 256;

/// Returns the weight of a word that `having` of `items` items contain: the rarer, the higher.
pub fn weight(items: usize, having: usize) -> f32 {
    (1.0 + (items as f32 + 0.5) / (having as f32 + 0.5)).ln()
}

/// Splits a text into lower-case runs of letters and digits. Scripts without spaces between words
/// are split by character.
pub fn words(text: &str) -> impl Iterator<Item = String> {
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
