//! Choices that a problem offers.

use super::phrases::{is_one_of, phrases};

/// Returns whether a problem lists `word` among its choices, or asks to reply with it. Both are in
/// lower case.
pub(super) fn is_offered(word: &str, problem: &str) -> bool {
    problem.match_indices(word).any(|(start, found)| {
        let before = problem.get(..start).unwrap_or_default();
        let after = problem.get(start + found.len()..).unwrap_or_default();

        let is_quoted = before.ends_with(is_quote) && after.starts_with(is_quote);
        is_quoted || (opens_choice(before) && closes_choice(after))
    })
}

fn is_quote(mark: char) -> bool {
    "'\"“”„«»「」".contains(mark)
}

/// Returns whether a choice can follow this text.
fn opens_choice(before: &str) -> bool {
    let bare = before.trim_end();
    // A word that isn't apart may be long, and would be read again for every occurrence in it.
    let is_apart = bare.len() < before.len();
    let last = || bare.rsplit(is_no_letter).next().unwrap_or_default();
    bare.ends_with(is_delimiter) || (is_apart && is_one_of(last(), &phrases().before_choice))
}

/// Returns whether a choice can precede this text.
fn closes_choice(after: &str) -> bool {
    let bare = after.trim_start();
    let is_end = bare.is_empty() || bare.starts_with(is_delimiter) || bare.starts_with(is_stop);
    let is_apart = bare.len() < after.len();
    let next = || bare.split(is_no_letter).next().unwrap_or_default();
    is_end || (is_apart && is_one_of(next(), &phrases().after_choice))
}

fn is_no_letter(mark: char) -> bool {
    !mark.is_alphanumeric()
}

/// Returns whether a mark separates choices.
fn is_delimiter(mark: char) -> bool {
    ",;:/|()[]{}-–—*•、，；：）（".contains(mark)
}

/// Returns whether a mark ends a sentence.
fn is_stop(mark: char) -> bool {
    ".?!。".contains(mark)
}
