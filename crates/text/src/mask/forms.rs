//! The forms of a value that are searched for.

use super::fold::{Folded, Sign};

/// The minimum number of characters of a value that are hidden before a cut.
pub(super) const BEGINNING: usize = 4;

/// The minimum length of a part of a value that is hidden, in characters.
pub(super) const PART: usize = 8;

/// The characters of a form, as they are compared.
pub(super) type Form = Vec<char>;

/// The characters whose escape is a letter, such as `\n`. The backslash before it is ignored.
const LETTERS: [(char, char); 13] = [
    ('\0', '0'),
    ('\u{7}', 'a'),
    ('\u{8}', 'b'),
    ('\t', 't'),
    ('\n', 'n'),
    ('\u{b}', 'v'),
    ('\u{c}', 'f'),
    ('\r', 'r'),
    ('\u{1b}', 'e'),
    ('\u{85}', 'N'),
    ('\u{a0}', '_'),
    ('\u{2028}', 'L'),
    ('\u{2029}', 'P'),
];

/// The letters of JSON, Rust and YAML.
const LANGUAGES: [&str; 3] = ["bfnrt", "0nrt", "0abtnvfreN_LP"];

/// Returns the spellings of a value: unchanged, with letter escapes, and as a host name.
fn spellings(value: &str) -> Vec<String> {
    let mut spellings = vec![value.to_owned()];
    spellings.extend(LANGUAGES.map(|letters| with_letters(value, letters)));
    #[cfg(feature = "host-names")]
    spellings.extend(super::host::as_host_name(value));

    spellings.sort();
    spellings.dedup();
    spellings
}

fn with_letters(value: &str, letters: &str) -> String {
    let letter = |character| {
        let (_, letter) = LETTERS.iter().find(|(escaped, _)| *escaped == character)?;
        letters.contains(*letter).then_some(*letter)
    };
    value
        .chars()
        .map(|character| letter(character).unwrap_or(character))
        .collect()
}

/// Returns the whole value in all its forms.
pub(super) fn wholes(value: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for spelling in spellings(value) {
        let plain = characters(&Folded::plain(&spelling).signs);
        let decoded = characters(&Folded::decoded(&spelling).signs);

        // The remainder of a value of only slashes and spaces would match everywhere.
        if decoded.len() >= BEGINNING.min(plain.len()) {
            forms.push(decoded);
        }

        forms.push(plain);
    }

    forms.retain(|form| !form.is_empty());
    forms.sort();
    forms.dedup();

    forms
}

/// Returns all parts of the value with [`PART`] characters, in all its forms.
pub(super) fn parts(value: &str) -> impl Iterator<Item = Form> {
    let folded = |spelling: String| {
        let folded = [Folded::plain(&spelling), Folded::decoded(&spelling)];
        folded
            .into_iter()
            .flat_map(move |folded| parts_of(&spelling, &folded.signs))
    };
    spellings(value).into_iter().flat_map(folded)
}

/// Returns the signs of each part of a text, except for parts that consist mostly of ignored
/// characters.
fn parts_of(text: &str, signs: &[Sign]) -> Vec<Form> {
    let ends = text
        .char_indices()
        .map(|(start, character)| start + character.len_utf8());
    let starts = text.char_indices().map(|(start, _)| start);

    let parts = starts.zip(ends.skip(PART - 1)).filter_map(|(start, end)| {
        let first = signs.partition_point(|sign| sign.bytes.start < start);
        let behind = signs.partition_point(|sign| sign.bytes.end <= end);
        let part = signs.get(first..behind)?;

        (part.len() >= BEGINNING).then(|| characters(part))
    });

    parts.collect()
}

pub(super) fn characters(signs: &[Sign]) -> Form {
    signs.iter().map(|sign| sign.character).collect()
}
