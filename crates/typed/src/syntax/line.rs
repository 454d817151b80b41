//! Lines of YAML as models write them: what they begin with, and where their texts end.

use std::borrow::Cow;

use super::quoted::{end_of_quote, unescaped};

/// What YAML doesn't count to a text before and after it.
const BLANKS: [char; 2] = [' ', '\t'];

/// A line of the text.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line<'t> {
    pub(super) number: usize,
    /// Where it begins in the text.
    pub(super) start: usize,
    /// The line without its end.
    pub(super) raw: &'t str,
    /// The column of its content.
    pub(super) column: usize,
    /// The line without the blanks around it.
    pub(super) text: &'t str,
}

pub(super) fn lines(text: &str, first: usize) -> impl Iterator<Item = Line<'_>> {
    let mut start = 0;
    text.split_inclusive('\n')
        .enumerate()
        .map(move |(at, line)| {
            let raw = line.trim_end_matches(['\n', '\r']);
            // Models indent with tabs and no-break spaces, which YAML refuses.
            let content = raw.trim_start_matches([' ', '\t', '\u{a0}']);
            let read = Line {
                number: first + at,
                start,
                raw,
                column: raw.len() - content.len(),
                text: content.trim_end_matches(BLANKS),
            };
            start += line.len();
            read
        })
}

/// An item of a list.
pub(super) struct Item<'t> {
    pub(super) rest: &'t str,
    /// Whether it begins as YAML requires it, rather than with a number or another sign.
    pub(super) is_dash: bool,
}

/// Returns the item on a line.
pub(super) fn item_of(text: &str) -> Option<Item<'_>> {
    if let Some(rest) = text.strip_prefix('-') {
        let is_item = rest.is_empty() || rest.starts_with([' ', '\t']);
        return is_item.then(|| Item {
            rest: rest.trim_start_matches(BLANKS),
            is_dash: true,
        });
    }

    let number = text.trim_start_matches(|digit: char| digit.is_ascii_digit());
    // A longer number is a year, as in `2024. It was`.
    let rest = match text.len() - number.len() {
        1..=3 => number.strip_prefix(['.', ')'])?,
        _ => text.strip_prefix(['*', '•', '+'])?,
    };
    let is_item = rest.starts_with(' ') && !rest.trim().is_empty();
    is_item.then(|| Item {
        rest: rest.trim_start(),
        is_dash: false,
    })
}

/// The maximum length of a key.
const MAX_KEY: usize = 100;

/// Returns the key at the beginning of a line, and what follows its colon.
pub(crate) fn key_of(text: &str) -> Option<(Cow<'_, str>, &str)> {
    if let Some(inner) = text.strip_prefix(['"', '\'']) {
        let quote = text.chars().next()?;
        // A long text in quotes may have a colon after it, but is a sentence.
        let length = end_of_quote(inner, quote).filter(|length| *length < MAX_KEY)?;
        let rest = inner.get(length + 1..)?.trim_start().strip_prefix(':')?;
        let key = unescaped(inner.get(..length)?).text;
        return is_end_of_key(rest).then(|| (key.into(), rest.trim_start_matches(BLANKS)));
    }
    // These signs begin other values, which may contain a colon.
    if text.starts_with(['[', '{', '#', '|', '>', ']', '}', ',']) {
        return None;
    }

    let mut colons = text.match_indices(':').map(|(at, _)| at);
    let at = colons.find(|at| text.get(at + 1..).is_some_and(is_end_of_key))?;
    let (key, rest) = (text.get(..at)?.trim_end(), text.get(at + 1..)?);
    let is_key = !key.is_empty() && key.len() <= MAX_KEY && !key.contains(" #");
    is_key.then(|| (key.into(), rest.trim_start_matches(BLANKS)))
}

fn is_end_of_key(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with([' ', '\t'])
}

pub(super) fn has_colon(text: &str) -> bool {
    text.contains(": ") || text.ends_with(':')
}

pub(super) fn is_quoted_in_part(text: &str) -> bool {
    text.starts_with(['"', '\'', '[', '{', '`', '@', '%', '&', '*', '!'])
}

pub(super) fn is_header(rest: &str) -> bool {
    let after = rest.get(1..).unwrap_or_default().trim_end();
    let header = after.split(" #").next().unwrap_or_default().trim_end();
    header.len() <= 2
        && header
            .chars()
            .all(|sign| matches!(sign, '+' | '-' | '1'..='9'))
}

/// Returns whether a text can't be the beginning of another value of the same type.
pub(super) fn is_complete_literal(text: &str) -> bool {
    matches!(text, "true" | "false" | "null" | "~" | "True" | "False")
}

/// Returns a text without quotes up to a comment, which only follows numbers and literals: in other
/// texts, a model means the sign.
pub(super) fn without_comment(rest: &str) -> &str {
    let before = rest
        .split_once(" #")
        .map_or(rest, |(before, _)| before.trim_end());
    let is_value = is_complete_literal(before) || before.parse::<f64>().is_ok();
    if is_value { before } else { rest }
}

/// Returns whether anything but a comment is between a place in a text and the end of its line.
pub(super) fn is_followed(text: &str, from: usize) -> bool {
    let after = text.get(from..).unwrap_or_default();
    let after = after.split('\n').next().unwrap_or_default().trim();
    !after.is_empty() && !after.starts_with('#')
}
