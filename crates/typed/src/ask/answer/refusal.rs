//! Refusals in English and Chinese.
//!
//! A refusal opens with words that no answer opens with, or with an inability (`I cannot`) that is
//! followed by a verb of helping (`assist`). After an apology, the inability is enough.

use serde::Deserialize;

use super::phrases::starts_with;

/// The phrases of refusals.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Refusals {
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

impl Refusals {
    /// Returns whether a text in lower case declines to answer.
    pub(super) fn include(&self, text: &str) -> bool {
        let text = text.trim_start_matches(['*', '_', '#', '>', '[', '(', ' ']);
        // The first sentence may be an apology.
        let has_phrase = text
            .split(is_end)
            .take(2)
            .any(|sentence| contains_any(sentence, &self.phrases));
        if has_phrase || starts_with_any(text, &self.openings) {
            return true;
        }

        let excuse = self.after_apology(text);
        let sentence = excuse.unwrap_or(text).split(is_end).next();
        let sentence = sentence.unwrap_or_default();
        if excuse.is_none() {
            let mut inabilities = self.inabilities.iter();
            return inabilities.any(|inability| {
                let has_verb = || inability.verbs.iter().any(|verb| has_word(sentence, verb));
                starts_with_any(sentence, &inability.openings) && has_verb()
            });
        }

        let is_unable = |clause| {
            let mut inabilities = self.inabilities.iter();
            inabilities.any(|inability| starts_with_any(clause, &inability.openings))
        };
        starts_with_any(sentence, &self.openings)
            || contains_any(sentence, &self.denials)
            || self.clauses(sentence).any(is_unable)
    }

    /// Returns the text after its apologies; `None` if it doesn't open with one.
    fn after_apology<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut rest = after_any(text, &self.apologies)?;
        while let Some(after) =
            after_any(rest, &self.links).or_else(|| after_any(rest, &self.apologies))
        {
            rest = after;
        }
        Some(rest)
    }

    /// Returns the clauses of a sentence, without the words that link them.
    fn clauses<'t>(&self, sentence: &'t str) -> impl Iterator<Item = &'t str> {
        let clauses = sentence.split([',', ';', '—', '–']);
        let clauses = clauses.flat_map(|clause| clause.split(" but "));
        clauses.map(|clause| after_any(clause.trim(), &self.links).unwrap_or(clause.trim()))
    }
}

/// Returns the text after one of several openings and the punctuation that follows it.
fn after_any<'t>(text: &'t str, openings: &[String]) -> Option<&'t str> {
    let opening = openings.iter().find(|opening| starts_with(text, opening))?;
    let rest = text.get(opening.len()..)?;
    let rest = rest.trim_start_matches([' ', ',', '.', '!', ':', ';', '-', '–', '—']);

    (!rest.is_empty()).then_some(rest)
}

fn is_end(mark: char) -> bool {
    ".!?\n。！？".contains(mark)
}

fn starts_with_any(text: &str, openings: &[String]) -> bool {
    openings.iter().any(|opening| starts_with(text, opening))
}

fn contains_any(text: &str, phrases: &[String]) -> bool {
    phrases.iter().any(|phrase| text.contains(phrase.as_str()))
}

fn has_word(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(start, _)| {
        let (before, from) = text.split_at(start);
        !before.ends_with(char::is_alphanumeric) && starts_with(from, word)
    })
}
