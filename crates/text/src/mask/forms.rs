//! The forms in which a value is looked for.

use super::fold::{Folded, Sign};
use super::{BEGINNING, Mask};

/// The characters of a form, as they are compared.
pub(super) type Form = Vec<char>;

/// The characters that have a letter as their escape: `\n`. The backslash before it is passed over.
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

/// Which of these letters JSON, Rust and YAML have.
const LANGUAGES: [&str; 3] = ["bfnrt", "0nrt", "0abtnvfreN_LP"];

/// The texts that stand for a value: itself, and what escapes with a letter and the names of hosts make of
/// it.
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

/// The whole value in all its forms.
pub(super) fn wholes(value: &str) -> Vec<Form> {
    let mut forms = Vec::new();
    for spelling in spellings(value) {
        let plain = characters(&Folded::plain(&spelling).signs);
        let decoded = characters(&Folded::decoded(&spelling).signs);

        // What is left of a value of slashes and spaces would be found everywhere.
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

/// All parts of the value that have [`Mask::PART`] characters, in all its forms.
pub(super) fn parts(value: &str) -> impl Iterator<Item = Form> {
    let folded = |spelling: String| {
        let folded = [Folded::plain(&spelling), Folded::decoded(&spelling)];
        folded
            .into_iter()
            .flat_map(move |folded| parts_of(&spelling, &folded.signs))
    };
    spellings(value).into_iter().flat_map(folded)
}

/// The signs of each part of a text. Where most of its characters are passed over, it has none.
fn parts_of(text: &str, signs: &[Sign]) -> Vec<Form> {
    let ends = text
        .char_indices()
        .map(|(start, character)| start + character.len_utf8());
    let starts = text.char_indices().map(|(start, _)| start);

    let parts = starts
        .zip(ends.skip(Mask::PART - 1))
        .filter_map(|(start, end)| {
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
