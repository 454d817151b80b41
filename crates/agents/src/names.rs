//! Shows names from files in messages: shortened, and as suggestions.

pub(crate) use cogwork_text::{Name, NameList};

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

    let length = name.chars().count();
    // Two names that differ more are different words, and a hint would mislead.
    let farthest = (length / 3).max(1);
    if name.len() > LONGEST {
        return None;
    }

    let lower = name.to_lowercase();
    let is_similar = |known: &&str| known.chars().count().abs_diff(length) <= farthest;
    let compared = known.into_iter().filter(is_similar).take(COMPARED);
    let distances =
        compared.map(|known| (strsim::osa_distance(&lower, &known.to_lowercase()), known));

    let (_, meant) = distances
        // A single letter is similar to no other one.
        .filter(|(distance, _)| *distance <= farthest && *distance < length)
        .min_by_key(|(distance, _)| *distance)?;
    Some(meant)
}
