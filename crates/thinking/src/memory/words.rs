//! How alike two texts are by their words.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use crate::Found;

/// Distinct words of a query that count; a longer query is its beginning.
const QUERY_WORDS: usize = 256;

/// Texts in order of age, with their words.
#[derive(Debug, Default)]
pub(super) struct Items {
    items: VecDeque<(Arc<str>, HashSet<String>)>,
}

impl Items {
    pub(super) fn add(&mut self, text: &str, most: usize) {
        while self.items.len() >= most {
            self.items.pop_front();
        }
        self.items.push_back((text.into(), words(text).collect()));
    }

    pub(super) fn len(&self) -> usize {
        self.items.len()
    }

    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        self.items.iter().map(|(text, _)| text.as_ref())
    }

    /// The score of an item is the share of the query's words that it has, a word weighing the more the
    /// fewer items have it. Unlike BM25's, such a score has a scale that a threshold can be set on, and a
    /// long item gains nothing by repeating itself.
    pub(super) fn search(&self, query: &str, top_k: usize, threshold: f32) -> Vec<Found> {
        // In an order, because sums of fractions depend on it, and with them which of two is the better.
        let mut weights = BTreeMap::new();
        for word in words(query) {
            if weights.len() >= QUERY_WORDS {
                break;
            }
            weights.entry(word).or_insert(0.0);
        }
        for (word, weight) in &mut weights {
            let having = self.items.iter().filter(|(_, words)| words.contains(word)).count();
            *weight = (1.0 + (self.items.len() as f32 + 0.5) / (having as f32 + 0.5)).ln();
        }
        let whole: f32 = weights.values().sum();
        // Newest first, and a stable sort: of equal ones the newer is found first.
        let scored = self.items.iter().rev().map(|(text, words)| {
            let shared = weights.iter().filter(|(word, _)| words.contains(*word));
            let score = shared.map(|(_, weight)| weight).sum::<f32>() / whole;
            Found::new(text.clone(), score)
        });
        let mut found: Vec<_> =
            scored.filter(|found| found.score() > 0.0 && found.score() >= threshold).collect();
        found.sort_by(|one, other| other.score().total_cmp(&one.score()));
        found.truncate(top_k);
        found
    }
}

/// Runs of letters and digits in lower case. Scripts without spaces between words count by the letter.
fn words(text: &str) -> impl Iterator<Item = String> {
    let runs = text.split(|character: char| !character.is_alphanumeric()).filter(|run| !run.is_empty());
    runs.flat_map(|run| {
        let is_dense =
            |character: char| matches!(character, '\u{2e80}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}');
        match run.contains(is_dense) {
            true => run.chars().map(String::from).collect::<Vec<_>>(),
            false => vec![run.to_lowercase()],
        }
    })
}
