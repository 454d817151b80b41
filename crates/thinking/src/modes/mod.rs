//! The built-in modes.

mod best_of;
pub use best_of::BestOf;

mod critique;
pub use critique::Critique;

mod plan_first;
pub use plan_first::PlanFirst;

mod reflection;
pub use reflection::Reflection;

mod verification;
pub use verification::Verification;

use crate::{Draft, ThinkingError};

/// Returns whether the first line of a reply is just this word. Punctuation around it is ignored,
/// unless the word itself is only punctuation.
fn is_just(reply: &str, word: &str) -> bool {
    let bare = |text: &str| {
        text.trim_matches(|mark: char| !mark.is_alphanumeric())
            .to_lowercase()
    };
    // Models like to explain their verdict in the lines that follow.
    let Some(line) = reply.trim().lines().next() else {
        return false;
    };

    let said = line.trim();
    let word = word.trim();
    // Models put verdicts in bold, in quotes, or end them with a full stop.
    said == word || !bare(word).is_empty() && bare(said) == bare(word)
}

/// The default number of rounds.
fn one() -> u32 {
    1
}

/// Returns an error for an empty draft.
fn some(draft: &Draft) -> Result<(), ThinkingError> {
    match draft.text().trim().is_empty() {
        true => Err(ThinkingError::new(
            "the draft is empty; expected a text to work on",
        )),
        false => Ok(()),
    }
}
