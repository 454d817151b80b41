//! Texts of a step made fit to be printed. They come from a model, so they may hold anything.

use std::fmt::{self, Write};

/// The longest piece of an input that an error quotes, in characters.
const EXCERPT: usize = 60;

/// The beginning of a text, for an error to quote.
pub(crate) fn excerpt(text: &str) -> String {
    let mut rest = text.chars();
    let mut start: String = rest.by_ref().take(EXCERPT).collect();
    start.extend(rest.next().map(|_| '…'));
    start
}

/// A text on one line: line breaks and tabs, with the blanks around them, become one blank, those at
/// either end are dropped, and what could steer a terminal is shown as a sign.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_each(f, |f, c| f.write_char(c))
    }
}

impl OneLine<'_> {
    /// Writes the line through `put`, one character at a time, for formats that escape some.
    pub(crate) fn write_each(
        &self,
        f: &mut fmt::Formatter<'_>,
        put: impl Fn(&mut fmt::Formatter<'_>, char) -> fmt::Result,
    ) -> fmt::Result {
        let mut blanks = 0;
        let mut broken = false;
        for c in self.0.trim().chars() {
            match c {
                ' ' => blanks += 1,
                '\t'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => broken = true,
                _ => {
                    let gap = if broken { 1 } else { blanks };
                    (0..gap).try_for_each(|_| f.write_char(' '))?;
                    (blanks, broken) = (0, false);
                    put(f, harmless(c))?;
                }
            }
        }
        Ok(())
    }
}

/// Control characters as the pictures Unicode has for them, the rest of what moves a cursor or turns the
/// direction of writing as a replacement character.
fn harmless(c: char) -> char {
    let picture = |code: u32| char::from_u32(0x2400 + code).unwrap_or(char::REPLACEMENT_CHARACTER);
    match c {
        '\0'..='\u{1f}' => picture(c.into()),
        '\u{7f}' => picture(0x21),
        '\u{80}'..='\u{9f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
            char::REPLACEMENT_CHARACTER
        }
        _ => c,
    }
}

/// Two blanks for each level.
pub(crate) fn indent(f: &mut fmt::Formatter<'_>, levels: usize) -> fmt::Result {
    (0..levels).try_for_each(|_| f.write_str("  "))
}

/// The text of an optional field, if it says anything.
pub(crate) fn said(text: &Option<String>) -> Option<OneLine<'_>> {
    text.as_deref().filter(|text| !text.trim().is_empty()).map(OneLine)
}
