//! What counts as an answer.

mod offered;
mod phrases;
mod refusal;
mod stated;

use std::fmt;
use unicode_normalization::UnicodeNormalization;

use self::phrases::{is_one_of, phrases};
pub use self::stated::stated_answer;

/// Why a text isn't an answer. Returned by [`no_answer`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoAnswer {
    /// The text is empty.
    Empty,
    /// The text stands for a missing value, such as `N/A`, `none`, `unknown`, `no answer` or `-`,
    /// and the problem doesn't offer it as a choice.
    Missing,
    /// The text declines to answer.
    Refusal,
}

impl fmt::Display for NoAnswer {
    /// Writes a complaint for the model, as in "`answer` {}".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Empty => "is empty, expected the answer",
            Self::Missing => "has no value, expected the answer",
            Self::Refusal => {
                "declines to answer, expected the answer, in quotation marks if it is these words"
            }
        })
    }
}

/// The maximum number of characters of a refusal. In a longer text, the opening isn't all there is.
const MAX_REFUSAL: usize = 1_000;

/// The maximum number of characters of a text that stands for a missing value.
const MAX_MISSING: usize = 40;

/// Returns why `text` isn't an answer to `problem`, or `None` if it is one.
///
/// A text isn't an answer if it is one of these:
///
/// - Empty.
/// - A word for a missing value: `N/A`, `none`, `null`, `unknown`, `no answer`, `I don't know` and
///   the like, in any case and formatting. If the problem offers the word as a choice, as in "yes,
///   no or unknown?", it is an answer.
/// - A refusal of at most 1,000 characters: a text that opens with "I cannot help with …", "I'm
///   sorry, but I can't …", "As an AI language model …" or similar words, also in Chinese. A refusal in quotation marks is a quotation, and one that contains a
///   [stated answer](stated_answer) has an answer.
///
/// A statement about the problem, such as "None of the above" or "It cannot be determined", is an
/// answer.
///
/// ```
/// use cogwork_typed::ask::{NoAnswer, no_answer};
///
/// assert_eq!(no_answer("51 km", "How far?"), None);
/// assert_eq!(no_answer("**N/A**", "How far?"), Some(NoAnswer::Missing));
/// assert_eq!(no_answer("N/A", "Which ones: A, B or N/A?"), None);
/// assert_eq!(no_answer("I'm sorry, but I can't help.", "How far?"), Some(NoAnswer::Refusal));
/// ```
pub fn no_answer(text: &str, problem: &str) -> Option<NoAnswer> {
    let text = text.trim();
    if text.is_empty() {
        return Some(NoAnswer::Empty);
    }

    if is_missing(text) {
        return (!is_offered(text, problem)).then_some(NoAnswer::Missing);
    }

    let is_short = text.chars().nth(MAX_REFUSAL).is_none();
    let declines =
        is_short && phrases().refusals.include(&folded(text)) && stated_answer(text).is_none();
    declines.then_some(NoAnswer::Refusal)
}

/// Returns whether a text stands for a missing value, such as `N/A` or `unknown`.
///
/// ```
/// assert!(cogwork_typed::ask::is_missing("\"None.\""));
/// assert!(!cogwork_typed::ask::is_missing("None of the above"));
/// ```
pub fn is_missing(text: &str) -> bool {
    if text.chars().nth(MAX_MISSING).is_some() {
        return false;
    }

    let text = folded(text);
    let bare = bare(&text);
    is_blank(&text, bare) || is_one_of(bare, &phrases().missing)
}

/// Returns whether `problem` offers a word for a missing value as a choice, as in "A, B or none".
///
/// ```
/// use cogwork_typed::ask::is_offered;
///
/// assert!(is_offered("None", "Which of them are prime: 9, 15, 21, or none?"));
/// assert!(!is_offered("None", "None of the trains is late. How far do they go?"));
/// ```
pub fn is_offered(word: &str, problem: &str) -> bool {
    let word = folded(word);
    let word = bare(&word);

    // A choice may have a line to itself.
    let problem = folded(&problem.replace('\n', " | "));
    !word.is_empty() && offered::is_offered(word, &problem)
}

/// Returns whether a text has nothing but marks. A mark such as `?` or `-` stands for nothing, while
/// `+` or `∅` may be an answer.
fn is_blank(text: &str, bare: &str) -> bool {
    bare.is_empty() && text.chars().all(|mark| "-–—_.…?*`'\" ".contains(mark))
}

/// Returns a text in lower case and a common Unicode form, with simple apostrophes and spaces.
fn folded(text: &str) -> String {
    let mut folded = String::with_capacity(text.len());

    for character in text.nfkc().flat_map(char::to_lowercase) {
        match character {
            '’' | '‘' | '`' | '´' => folded.push('\''),
            space if space.is_whitespace() => {
                if !folded.ends_with(' ') && !folded.is_empty() {
                    folded.push(' ');
                }
            }
            other => folded.push(other),
        }
    }

    folded
}

/// Returns a text without the quotation marks, formatting and punctuation around it.
fn bare(text: &str) -> &str {
    text.trim_matches(|mark: char| {
        mark.is_whitespace() || "'\"“”„«»「」*_`()[]{}<>.,;:!?。…-–—".contains(mark)
    })
}
