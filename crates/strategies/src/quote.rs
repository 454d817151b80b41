//! Names and values inside error messages. They come from models and from configuration and may be any
//! text; a message stays one readable line that cannot steer a terminal.

use std::fmt::{self, Write};

/// A text with its control characters escaped, cut after [`Name::MAX`] characters.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl Name<'_> {
    const MAX: usize = 80;
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(Self::MAX) {
            if steers(character) {
                write!(f, "{}", character.escape_unicode())?;
            } else {
                f.write_char(character)?;
            }
        }
        if characters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Whether a character ends a line, moves the cursor, or turns the direction of the text.
pub(crate) fn steers(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

/// `` `a`, `b` or `c` ``; of many only the first [`LISTED`], and how many more there are.
pub(crate) struct List<'a, T>(pub(crate) &'a [T], pub(crate) &'a str);

const LISTED: usize = 20;

impl<T: AsRef<str>> fmt::Display for List<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(items, joint) = self;
        for (index, item) in items.iter().take(LISTED).enumerate() {
            let last = index > 0 && index + 1 == items.len();
            match index {
                0 => {}
                _ if last => write!(f, " {joint} ")?,
                _ => f.write_str(", ")?,
            }
            write!(f, "`{}`", Name(item.as_ref()))?;
        }
        match items.len().saturating_sub(LISTED) {
            0 => Ok(()),
            more => write!(f, " and {more} more"),
        }
    }
}

/// What a value is, in a few words: `the text "abc"`, `12`, `a list`.
pub(crate) fn shown(value: &serde_json::Value) -> String {
    use serde_json::Value;
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(value) => value.to_string(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => format!("the text \"{}\"", Name(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
