//! Words of models and of configuration inside messages: one line, bounded, nothing that a terminal obeys.

use std::fmt::{self, Write};

/// A text with its control characters escaped, cut after this many characters.
pub(crate) struct Shown<'a>(pub(crate) &'a str, pub(crate) usize);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(self.1) {
            if steers(character) {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        if characters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Whether a character ends a line, moves the cursor, or turns the direction of the text.
fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// `` `a`, `b` or `c` ``, of at most twenty.
pub(crate) fn list<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<_> =
        names.iter().take(20).map(|name| format!("`{}`", Shown(name.as_ref(), 80))).collect();
    match (quoted.as_slice(), names.len().saturating_sub(20)) {
        ([], _) => "none".to_owned(),
        ([one], _) => one.clone(),
        ([first @ .., last], 0) => format!("{} or {last}", first.join(", ")),
        (all, more) => format!("{} or {more} more", all.join(", ")),
    }
}

/// The start of `text`, of at most this many bytes.
pub(crate) fn start(text: &str, bytes: usize) -> &str {
    let end = (0..=bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at));
    end.and_then(|end| text.get(..end)).unwrap_or_default()
}
