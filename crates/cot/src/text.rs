//! A model's text made fit to be shown.

use std::fmt::{self, Write};

/// Without what could steer a terminal: control characters but the line break and the tab, and the
/// marks that turn the direction of text around.
pub(crate) struct Harmless<'a>(pub(crate) &'a str);

impl fmt::Display for Harmless<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .chars()
            .filter(|character| !steers(*character))
            .try_for_each(|character| f.write_char(character))
    }
}

fn steers(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => character.is_control(),
    }
}

/// The same on one line: any blanks between words become one space.
pub(crate) struct OneLine<'a>(pub(crate) &'a str);

impl fmt::Display for OneLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, word) in self.0.split_whitespace().enumerate() {
            write!(f, "{}{}", if index > 0 { " " } else { "" }, Harmless(word))?;
        }
        Ok(())
    }
}
