//! Whether a run goes in circles: the newest thoughts are the ones before them, again and again.

use super::{Driver, Solving};

/// Thoughts of a circle.
const LONGEST: usize = 24;

/// Whether the newest thoughts of the current branch are the same circle, `times` over.
pub(super) fn is_stuck(driver: &dyn Driver, solving: &Solving, times: u32) -> bool {
    let times = usize::try_from(times).unwrap_or(usize::MAX).clamp(2, 100);
    let shown = |thought: &crate::Thought| {
        driver
            .progress(thought)
            .map(|shown| (thought.stage().name().to_owned(), shown))
    };

    // The newest first.
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

/// Whether two texts say the same: case and spaces aside. Looks no further than to where they part, since
/// every turn compares many and a model may write long ones.
fn is_same(one: &str, other: &str) -> bool {
    fn folded(text: &str) -> impl Iterator<Item = char> {
        text.split_whitespace()
            .flat_map(|word| word.chars().flat_map(char::to_lowercase).chain([' ']))
    }

    folded(one).eq(folded(other))
}
