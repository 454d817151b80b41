//! One form for the Unicode variants of a text.

use unicode_normalization::UnicodeNormalization;

/// Returns a text in lower case and in the compatibility form of Unicode (NFKC), with ASCII digits,
/// minus signs, quotation marks and thousands separators.
///
/// NFKC alone would merge different numbers: `10²` and `102`, or `1½` and `11/2`. An exponent
/// therefore gets the sign `^`, and a fraction a space before it.
pub(super) fn common_form(text: &str) -> String {
    let mut common = String::with_capacity(text.len());
    let mut before = ' ';

    for (place, character) in text.char_indices() {
        let rest = || text.get(place + character.len_utf8()..).unwrap_or_default();

        if is_superscript(character) && !is_superscript(before) {
            common.push('^');
        } else if is_fraction(character) {
            common.push(' ');
        }

        if is_digit(before) && is_separator(character) && is_group(rest()) {
            common.push(',');
        } else if is_dash(character) && rest().starts_with(is_digit) {
            common.push('-');
        } else {
            push_common(&mut common, character);
        }

        before = character;
    }

    // Composed once more, since lower case and digits were written one character at a time.
    common.nfkc().collect()
}

/// Writes a character in lower case and its compatibility form.
fn push_common(common: &mut String, character: char) {
    for character in std::iter::once(character)
        .nfkc()
        .flat_map(char::to_lowercase)
    {
        match character {
            '−' => common.push('-'),
            '⁄' | '∕' => common.push('/'),
            'ß' => common.push_str("ss"),
            'ς' => common.push('σ'),
            other => common.push(digit(other).unwrap_or(other)),
        }
    }
}

/// The zeros of decimal digits in other scripts, which NFKC keeps.
const ZEROS: [char; 6] = ['٠', '۰', '०', '০', '௦', '๐'];

/// Returns the ASCII digit for a decimal digit of another script.
fn digit(character: char) -> Option<char> {
    let value = |zero: &char| u32::from(character).checked_sub(u32::from(*zero));
    let value = ZEROS.iter().filter_map(value).find(|value| *value < 10)?;
    char::from_digit(value, 10)
}

fn is_digit(character: char) -> bool {
    character.is_ascii_digit() || matches!(character, '０'..='９') || digit(character).is_some()
}

fn is_superscript(character: char) -> bool {
    matches!(
        character,
        '²' | '³' | '¹' | '⁰' | '⁴'..='⁹' | '⁺' | '⁻' | 'ⁿ'
    )
}

fn is_fraction(character: char) -> bool {
    matches!(character, '¼' | '½' | '¾' | '⅐'..='⅞' | '↉')
}

/// Returns whether a character can separate thousands: an apostrophe, or a space that doesn't break.
fn is_separator(character: char) -> bool {
    matches!(
        character,
        '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’' | '，' | '٬'
    )
}

/// Returns whether a text starts with exactly three digits.
fn is_group(text: &str) -> bool {
    let digits = text.chars().take(4).take_while(|digit| is_digit(*digit));
    digits.count() == 3
}

fn is_dash(character: char) -> bool {
    matches!(character, '–' | '‐' | '‑' | '‒' | '−' | '－' | '﹣')
}
