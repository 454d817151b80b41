//! Shows names from files in messages: as lists, shortened, and as suggestions.

use std::fmt::Display;

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

/// Returns the end of a message about an unknown name.
pub(crate) fn did_you_mean(nearest: Option<&str>) -> String {
    nearest
        .map(|name| format!("; did you mean `{}`?", Name(name)))
        .unwrap_or_default()
}

/// Returns the known name that was most likely meant: the most similar one, if at most a third of
/// its characters differ.
pub(crate) fn nearest<'k>(name: &str, known: impl IntoIterator<Item = &'k str>) -> Option<&'k str> {
    /// Comparing takes time proportional to the product of the lengths, and names and lists of names
    /// from a file can be as long as the file.
    const LONGEST: usize = 64;
    const COMPARED: usize = 100;

    if name.len() > LONGEST {
        return None;
    }

    let lower = name.to_lowercase();
    let length = name.chars().count();
    let farthest = (length / 3).max(1);

    let is_candidate =
        |known: &&str| known.len() <= LONGEST && known.chars().count().abs_diff(length) <= farthest;
    let candidates = known.into_iter().filter(is_candidate).take(COMPARED);
    let distances =
        candidates.map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known));

    distances
        .filter(|(distance, _)| *distance <= farthest)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, known)| known)
}
