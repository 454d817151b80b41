//! Refusals in English and Chinese. The phrases are in `data/refusals.json`.
//!
//! A refusal opens with words that no answer opens with, or with an inability (`I cannot`) that is
//! followed by a verb of helping (`assist`). After an apology, the inability is enough.

use std::sync::LazyLock;

use serde::Deserialize;

use super::is_missing;

/// The phrases, in lower case.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    /// Texts that open a refusal whatever follows.
    openings: Vec<String>,
    /// Phrases of languages that don't separate words.
    phrases: Vec<String>,
    /// Apologies, after which any inability is a refusal.
    apologies: Vec<String>,
    /// Words between an apology and what it is for.
    links: Vec<String>,
    inabilities: Vec<Inability>,
    /// Sentences that deny a request without naming who denies it.
    denials: Vec<String>,
}

/// What a refusal says of the one who gives it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Inability {
    openings: Vec<String>,
    /// The verbs of helping, one of which must follow unless there was an apology.
    verbs: Vec<String>,
}

#[expect(
    clippy::expect_used,
    reason = "the file is part of the crate, and every test of refusals reads it"
)]
fn words() -> &'static Words {
    static WORDS: LazyLock<Words> = LazyLock::new(|| {
        let file = include_str!("../../../data/refusals.json");
        serde_json::from_str(file).expect("the crate's own phrases are whole")
    });

    &WORDS
}

/// Returns whether a text in lower case declines to answer.
pub(super) fn is_refusal(text: &str) -> bool {
    let words = words();
    let text = text.trim_start_matches(['*', '_', '#', '>', '[', '(', ' ']);

    if starts_with_any(text, &words.openings) || has_phrase(text) {
        return true;
    }

    let after = after_apology(text);
    let rest = after.unwrap_or(text);
    let is_sorry = after.is_some();
    if is_sorry && (starts_with_any(rest, &words.openings) || is_missing(rest) || is_no(rest)) {
        return true;
    }

    let sentence = sentence(rest);
    if !is_sorry {
        return words
            .inabilities
            .iter()
            .any(|inability| inability.opens(sentence, false));
    }

    let is_denied = words
        .denials
        .iter()
        .any(|denial| sentence.contains(denial.as_str()));
    is_denied
        || clauses(sentence).any(|clause| {
            words
                .inabilities
                .iter()
                .any(|inability| inability.opens(clause, true))
        })
}

/// Returns the clauses of a sentence, without the words that link them.
fn clauses(sentence: &str) -> impl Iterator<Item = &str> {
    let clauses = sentence.split([',', ';', '—', '–']);
    let clauses = clauses.flat_map(|clause| clause.split(" but "));
    clauses.map(|clause| {
        let clause = clause.trim();
        without_opening(clause, &words().links).unwrap_or(clause)
    })
}

impl Inability {
    /// Returns whether a sentence opens with this inability.
    fn opens(&self, sentence: &str, is_sorry: bool) -> bool {
        let is_unable = starts_with_any(sentence, &self.openings);
        is_unable && (is_sorry || self.verbs.iter().any(|verb| has_word(sentence, verb)))
    }
}

/// Returns whether one of the first two sentences, of which the first may be an apology, has one of
/// the phrases.
fn has_phrase(text: &str) -> bool {
    let mut sentences = text.split(is_end).take(2);
    sentences.any(|sentence| {
        words()
            .phrases
            .iter()
            .any(|phrase| sentence.contains(phrase.as_str()))
    })
}

/// Returns the text after its apologies; `None` if it doesn't open with one.
fn after_apology(text: &str) -> Option<&str> {
    let mut rest = without_opening(text, &words().apologies)?;

    while let Some(after) =
        without_opening(rest, &words().links).or_else(|| without_opening(rest, &words().apologies))
    {
        rest = after;
    }

    Some(rest)
}

/// Returns the text after one of several openings and the punctuation that follows it.
fn without_opening<'t>(text: &'t str, openings: &[String]) -> Option<&'t str> {
    let opening = openings.iter().find(|opening| starts_with(text, opening))?;
    let rest = text.get(opening.len()..)?;
    let rest = rest.trim_start_matches([' ', ',', '.', '!', ':', ';', '-', '–', '—']);

    (!rest.is_empty()).then_some(rest)
}

/// Returns the first sentence of a text.
fn sentence(text: &str) -> &str {
    let end = text.find(is_end);
    text.get(..end.unwrap_or(text.len())).unwrap_or_default()
}

fn is_end(mark: char) -> bool {
    ".!?\n。！？".contains(mark)
}

fn starts_with_any(text: &str, openings: &[String]) -> bool {
    openings.iter().any(|opening| starts_with(text, opening))
}

/// Returns whether a text starts with these words, and not with the start of a longer one.
fn starts_with(text: &str, words: &str) -> bool {
    let is_open = words.ends_with(|end: char| !end.is_alphanumeric() || !end.is_ascii());
    text.strip_prefix(words)
        .is_some_and(|rest| is_open || !rest.starts_with(char::is_alphanumeric))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, found)| {
        let before = text.get(..start).unwrap_or_default();
        let after = text.get(start + found.len()..).unwrap_or_default();
        !before.ends_with(char::is_alphanumeric) && !after.starts_with(char::is_alphanumeric)
    })
}

/// Returns whether a text is nothing but "no".
fn is_no(text: &str) -> bool {
    matches!(
        super::bare(text),
        "no" | "nein" | "non" | "não" | "нет" | "nee"
    )
}
