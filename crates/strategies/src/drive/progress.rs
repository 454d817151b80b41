//! Detects runs that repeat themselves.

use super::{Driver, Solving};

/// The maximum number of thoughts that repeat.
const LONGEST: usize = 24;

/// The number of repetitions that end a run.
pub(super) const TIMES: u8 = 3;

/// Returns whether the last thoughts of the current branch repeat the same sequence three times.
pub(super) fn is_stuck(driver: &dyn Driver, solving: &Solving) -> bool {
    let times = usize::from(TIMES);
    let shown = |thought: &crate::Thought| {
        driver
            .progress(thought)
            .map(|shown| (thought.stage().to_owned(), shown))
    };

    // The last thought first.
    let shown: Vec<_> = solving
        .path()
        .take(LONGEST * times * 2)
        .filter_map(shown)
        .take(LONGEST * times)
        .collect();

    (1..=LONGEST).any(|length| {
        let Some(newest) = shown.get(..length * times) else {
            return false;
        };

        newest
            .iter()
            .zip(newest.iter().skip(length))
            .all(|(one, other)| one.0 == other.0 && is_same(&one.1, &other.1))
    })
}

/// Returns whether two texts are equal except for case and whitespace.
///
/// It stops at the first difference, since every turn compares many texts, which may be long.
fn is_same(one: &str, other: &str) -> bool {
    fn folded(text: &str) -> impl Iterator<Item = char> {
        text.split_whitespace()
            .flat_map(|word| word.chars().flat_map(char::to_lowercase).chain([' ']))
    }

    folded(one).eq(folded(other))
}
