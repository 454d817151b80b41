//! The phrases by which answers, refusals and missing values are recognized.

use std::sync::LazyLock;

use serde::Deserialize;

use super::refusal::Refusals;

/// The phrases of `data/phrases.json`, in lower case and in several languages.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Phrases {
    /// Texts that stand for a missing value, without punctuation around them.
    pub(super) missing: Vec<String>,
    /// Words that precede a choice, or that ask for a certain reply.
    pub(super) before_choice: Vec<String>,
    /// Words that follow a choice.
    pub(super) after_choice: Vec<String>,
    /// Labels of an answer at the start of a line.
    pub(super) labels: Vec<String>,
    /// Openings of a sentence that states an answer.
    pub(super) stated: Vec<String>,
    /// Words after such an opening that state no answer.
    pub(super) unstated: Vec<String>,
    /// Words right before such an opening that call the answer into question.
    pub(super) doubted: Vec<String>,
    /// Words after an answer that take it back.
    pub(super) corrected: Vec<String>,
    /// Words with a full stop that doesn't end the sentence.
    pub(super) abbreviations: Vec<String>,
    pub(super) refusals: Refusals,
}

#[expect(
    clippy::expect_used,
    reason = "the file is part of the crate, and every test of answers reads it"
)]
pub(super) fn phrases() -> &'static Phrases {
    static PHRASES: LazyLock<Phrases> = LazyLock::new(|| {
        let file = include_str!("../../../data/phrases.json");
        serde_json::from_str(file).expect("the crate's own phrases are whole")
    });

    &PHRASES
}

/// Returns whether a text is one of the phrases.
pub(super) fn is_one_of(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| phrase == text)
}

/// Returns whether a text in lower case contains one of the phrases as words of their own.
pub(super) fn contains_one_of(text: &str, phrases: &[String]) -> bool {
    let begins = |at: usize| {
        let before = text.get(..at).and_then(|before| before.chars().next_back());
        before.is_none_or(|before| !before.is_ascii_alphanumeric())
    };
    let mut phrases = phrases.iter();
    phrases.any(|phrase| {
        let mut places = text.match_indices(phrase.as_str());
        places.any(|(at, _)| {
            begins(at) && text.get(at..).is_some_and(|text| starts_with(text, phrase))
        })
    })
}

/// Returns whether a text starts with these words, and not with the start of a longer one.
pub(super) fn starts_with(text: &str, words: &str) -> bool {
    let is_open = words.ends_with(|end: char| !end.is_alphanumeric() || !end.is_ascii());
    text.strip_prefix(words)
        .is_some_and(|rest| is_open || !rest.starts_with(char::is_alphanumeric))
}
