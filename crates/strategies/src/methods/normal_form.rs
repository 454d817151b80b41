//! The form in which answers are compared. Texts with the same meaning should have the same form.

use cogwork_text::is_unsafe;
use unicode_normalization::UnicodeNormalization;

/// Returns the words, numbers and signs of a text, separated by single spaces.
///
/// Case, punctuation, formatting and an opening such as `The answer is` are removed, Unicode
/// variants of a character are unified, numbers are written by value (`1,000.50` as `1000.5`), and
/// units are kept. Brackets are kept inside of a text with numbers, where they may change its value.
/// A text of punctuation alone keeps it. Takes linear time.
pub(super) fn normal_form(text: &str) -> String {
    // First, because the rest knows only one form of each sign.
    let text = common_form(text.trim());
    let text = text.trim();
    let mut rest = unwrapped(text);
    let is_formula = rest.contains(|character: char| character.is_ascii_digit());
    let mut words: Vec<String> = Vec::new();
    let mut before = ' ';

    while let Some(first) = rest.chars().next() {
        let (word, length) = match first {
            '(' | ')' | '[' | ']' if is_formula => (first.to_string(), 1),
            _ => word(rest, first, before),
        };
        let (taken, after) = rest.split_at(length);
        words.extend(Some(word).filter(|word| !word.is_empty()));
        before = taken.chars().next_back().unwrap_or(before);
        rest = after;
    }

    let form = words.join(" ");
    let said = ["the final answer is ", "the answer is "];
    let said = said.iter().find_map(|said| form.strip_prefix(said));
    match said.unwrap_or(&form) {
        // A text of punctuation alone would otherwise equal any other one.
        "" => text.to_owned(),
        form => form.to_owned(),
    }
}

/// Removes the markup and a pair of brackets around a result.
fn unwrapped(text: &str) -> &str {
    let markup = [("$$", "$$"), ("$", "$"), ("\\boxed{", "}")];
    let text = markup.iter().fold(text, |text, (opening, closing)| {
        let inside = text.strip_prefix(opening);
        let inside = inside.and_then(|rest| rest.strip_suffix(closing));
        inside.map_or(text, str::trim)
    });

    let brackets = [('(', ')'), ('[', ']')].into_iter();
    let mut inside = brackets.filter_map(|(opening, closing)| {
        let inside = text.strip_prefix(opening)?.strip_suffix(closing)?;
        (!inside.contains([opening, closing])).then_some(inside)
    });
    inside.next().unwrap_or(text)
}

/// Returns the form of the first word, number or sign of a text that follows the character `before`,
/// and its length in the text. Punctuation has an empty form.
fn word(text: &str, first: char, before: char) -> (String, usize) {
    let is_letter = |character: char| character.is_alphanumeric() && !character.is_ascii_digit();
    if is_letter(first) {
        let end = text.find(|character| !is_letter(character));
        let word = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
        let form = if word == "percent" { "%" } else { word };
        return (form.to_owned(), word.len());
    }

    let may_be_signed = !before.is_alphanumeric() && before != ')';
    let number = match first {
        '.' | '0'..='9' => number(text),
        '-' | '+' if may_be_signed => number(text.get(1..).unwrap_or_default()),
        _ => None,
    };
    match (first, number) {
        ('+', Some((number, length))) => (number, length + 1),
        // There is only one zero.
        ('-', Some((number, length))) if number == "0" => (number, length + 1),
        ('-', Some((number, length))) => (format!("-{number}"), length + 1),
        (_, Some(number)) => number,
        ('*', None) if text.starts_with("**") => (String::new(), 2),
        (_, None) => (sign(first), first.len_utf8()),
    }
}

/// Returns a sign that has a meaning, unlike punctuation.
fn sign(character: char) -> String {
    const PUNCTUATION: &str = ".,;:!?\"'`_()[]{}\\“”„‘’«»…—•¿¡";
    match character {
        '×' | '·' => "*".to_owned(),
        '÷' => "/".to_owned(),
        other if other.is_whitespace() || is_unsafe(other) || PUNCTUATION.contains(other) => {
            String::new()
        }
        other => other.to_string(),
    }
}

/// Returns the number at the start of a text by its value, and its length. A separator belongs to
/// the number if exactly three digits follow: `1,000` is a thousand, and `1,2` are two numbers.
fn number(text: &str) -> Option<(String, usize)> {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut end = digits(text);
    let mut whole = text.get(..end)?.to_owned();

    let may_have_groups = (1..=3).contains(&end);
    let group = |end: usize| text.get(end..)?.strip_prefix([',', '\'']);
    while let Some(rest) = group(end).filter(|rest| may_have_groups && digits(rest) == 3) {
        whole.push_str(rest.get(..3)?);
        end += 4;
    }

    let rest = text.get(end..)?.strip_prefix('.').unwrap_or_default();
    let fraction = rest.get(..digits(rest))?;
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    if !fraction.is_empty() {
        end += 1 + fraction.len();
    }

    // A date, a version or an address, such as `1.10.2024`, isn't a number.
    let dotted = text.get(end..)?.strip_prefix('.').unwrap_or_default();
    if !fraction.is_empty() && dotted.starts_with(|next: char| next.is_ascii_digit()) {
        let is_part = |next: char| next.is_ascii_digit() || next == '.';
        let dotted = text.trim_start_matches(is_part);
        let dotted = text.get(..text.len() - dotted.len())?.trim_end_matches('.');
        return Some((dotted.to_owned(), dotted.len()));
    }

    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(match fraction.trim_end_matches('0') {
        "" => (whole.to_owned(), end),
        fraction => (format!("{whole}.{fraction}"), end),
    })
}

/// Returns a text in lower case and in the compatibility form of Unicode (NFKC), with ASCII dashes and
/// separators of thousands.
///
/// NFKC alone would merge different numbers: `10²` and `102`, `1½` and `11/2`, or `1 000` with a
/// space that breaks and with one that doesn't. They are told apart before.
fn common_form(text: &str) -> String {
    const SUPERSCRIPTS: &str = "²³¹⁰⁴⁵⁶⁷⁸⁹⁺⁻ⁿ";
    const FRACTIONS: &str = "¼½¾⅐⅑⅒⅓⅔⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞↉";
    let mut marked = String::with_capacity(text.len());
    let mut before = ' ';

    for character in text.chars() {
        if SUPERSCRIPTS.contains(character) && !SUPERSCRIPTS.contains(before) {
            marked.push('^');
        } else if FRACTIONS.contains(character) {
            marked.push(' ');
        }

        marked.push(match character {
            '\u{a0}' | '\u{202f}' | '\u{2009}' | '’' | '٬' => '\'',
            other => other,
        });
        before = character;
    }

    let lower = marked.nfkc().flat_map(char::to_lowercase).map(unified);
    // Composed once more, since lower case was written one character at a time.
    let lower: String = lower.nfkc().collect();
    // NFKC keeps it, and upper case writes it as two letters.
    lower.replace('ß', "ss")
}

/// Returns the character that stands for several of the same meaning, which NFKC keeps apart.
fn unified(character: char) -> char {
    match character {
        '–' | '‐' | '‑' | '‒' | '−' => '-',
        '⁄' | '∕' => '/',
        'ς' => 'σ',
        other => other,
    }
}
