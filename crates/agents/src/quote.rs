//! Shows names from files in messages: as lists, shortened, and as suggestions.

use std::fmt::Display;

use cogwork_read::charge;
pub(crate) use cogwork_text::Name;
use cogwork_text::OneLine;

/// The maximum number of characters of an external message that are shown.
const MAX_MESSAGE: usize = 1_000;

/// Returns an external message on one line of limited length.
pub(crate) fn one_line(message: impl Display) -> String {
    OneLine::new(message)
        .with_max_chars(MAX_MESSAGE)
        .to_string()
}

/// Formats names as `` `a`, `b`, `c` ``: at most the first [`LISTED`] names, and the number of
/// others.
pub(crate) fn list<T: AsRef<str>>(names: impl IntoIterator<Item = T>) -> String {
    const LISTED: usize = 30;
    let mut names = names.into_iter();
    let shown: Vec<_> = names
        .by_ref()
        .take(LISTED)
        .map(|name| format!("`{}`", Name(name.as_ref())))
        .collect();

    match (shown.is_empty(), names.count()) {
        (true, _) => "none".to_owned(),
        (_, 0) => shown.join(", "),
        (_, more) => format!("{} and {more} more", shown.join(", ")),
    }
}

/// Returns the most similar known name, if at most a third of its letters differ.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Comparing takes time proportional to the product of the lengths, and a name can be as long
    /// as a whole file.
    const LONGEST: usize = 64;

    /// A flow can have thousands of nodes with similar names.
    const COMPARED: usize = 20;

    if name.len() > LONGEST {
        return None;
    }

    let lower = name.to_lowercase();
    let farthest = (name.chars().count() / 3).max(1);

    let distance = |known: &'k str| {
        charge(name.len() * known.len());
        let far = strsim::osa_distance(&lower, &known.to_lowercase());
        (far <= farthest).then_some((far, known))
    };

    let near = |known: &&str| known.len() <= LONGEST && may_be_within(farthest, &lower, known);
    let candidates = known.into_iter().filter(near).take(COMPARED);
    candidates
        .filter_map(distance)
        .min_by_key(|(far, _)| *far)
        .map(|(_, known)| known)
}

/// Returns whether the names may be within this number of changes, based on how often each
/// character occurs. This is much faster than comparing the names.
fn may_be_within(changes: usize, one: &str, other: &str) -> bool {
    charge(one.len() + other.len());
    let mut counts = [0_isize; 128];
    let mut count = |character: char, by: isize| {
        if let Some(count) = counts.get_mut(character as usize % 128) {
            *count += by;
        }
    };

    one.chars().for_each(|character| count(character, 1));
    other
        .chars()
        .flat_map(char::to_lowercase)
        .for_each(|character| count(character, -1));
    let more: isize = counts.iter().filter(|count| **count > 0).sum();
    let fewer: isize = counts.iter().filter(|count| **count < 0).sum();

    more.unsigned_abs().max(fewer.unsigned_abs()) <= changes
}

/// Returns the end of a message about an unknown name.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean `{}`?", Name(name)))
        .unwrap_or_default()
}
