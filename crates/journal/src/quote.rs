//! Names inside messages. A run id may be any text; a message stays one readable line.

use std::fmt::{self, Write};

/// A text with its control characters escaped, cut after so many characters.
pub(crate) struct Quoted<'a>(pub(crate) &'a str, pub(crate) usize);

/// A name.
pub(crate) fn name(name: &str) -> Quoted<'_> {
    Quoted(name, 80)
}

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(self.1) {
            // The two separators end a line in many programs, though they are no control characters.
            match character {
                '\u{2028}' | '\u{2029}' => write!(f, "{}", character.escape_unicode())?,
                _ if character.is_control() => write!(f, "{}", character.escape_debug())?,
                _ => f.write_char(character)?,
            }
        }
        if characters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}
