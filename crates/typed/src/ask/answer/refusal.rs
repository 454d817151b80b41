//! Refusals in English and Chinese.

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
    /// What the one who refuses can't or won't do.
    inabilities: Vec<String>,
    /// Words of helping, one of which must follow an inability unless there was an apology.
    help: Vec<String>,
}

impl Refusals {
    /// Returns whether a text in lower case declines to answer.
    pub(super) fn include(&self, text: &str) -> bool {
        let text = text.trim_start_matches(['*', '_', '#', '>', '[', '(', ' ']);
        // The first sentence may be an apology.
        let mut beginning = text.split(is_end).take(2);
        let has_phrase = beginning.any(|sentence| contains_any(sentence, &self.phrases));

        let excuse = self.after_apology(text);
        let excuse_or_text = excuse.unwrap_or(text);
        let sentence = excuse_or_text.split(is_end).next().unwrap_or_default();
        let is_unable = starts_with_any(sentence, &self.inabilities);
        has_phrase
            || starts_with_any(excuse_or_text, &self.openings)
            || (is_unable && (excuse.is_some() || contains_any(sentence, &self.help)))
    }

    /// Returns the text after its apologies; `None` if it doesn't open with one.
    fn after_apology<'t>(&self, text: &'t str) -> Option<&'t str> {
        let mut rest = after_any(text, &self.apologies)?;
        let next = |rest| after_any(rest, &self.links).or(after_any(rest, &self.apologies));
        while let Some(after) = next(rest) {
            rest = after;
        }
        Some(rest)
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
