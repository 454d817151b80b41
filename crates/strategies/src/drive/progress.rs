//! Whether a run goes in circles: the newest thoughts are the ones before them, again and again.

use super::{Driver, Solving};

/// Thoughts of a circle.
const LONGEST: usize = 24;

/// Whether the newest thoughts of the current branch are the same circle, `times` over.
pub(super) fn is_stuck(driver: &dyn Driver, solving: &Solving, times: u32) -> bool {
    let times = usize::try_from(times).unwrap_or(usize::MAX).clamp(2, 100);
    let shown = |thought: &crate::Thought| {
        driver.progress(thought).map(|shown| (thought.stage().name().to_owned(), folded(&shown)))
    };
    // The newest first.
    let shown: Vec<_> =
        solving.path().take(LONGEST * times * 2).filter_map(shown).take(LONGEST * times).collect();
    (1..=LONGEST).any(|length| {
        let Some(newest) = shown.get(..length * times) else { return false };
        newest.iter().zip(newest.iter().skip(length)).all(|(one, other)| one == other)
    })
}

/// A text as far as it says something: case, spaces and signs aside.
fn folded(text: &str) -> String {
    let spoken = |character: char| if character.is_whitespace() { ' ' } else { character };
    let words: String = text.chars().map(spoken).flat_map(char::to_lowercase).collect();
    words.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
