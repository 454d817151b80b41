//! Names and labels inside error messages. They may come from configuration and be any text; a
//! message stays one readable line.

use std::fmt::{self, Write};

/// A name with its control characters escaped, cut after [`Name::MAX`] characters.
pub(crate) struct Name<'a>(pub(crate) &'a str);

impl Name<'_> {
    const MAX: usize = 80;
}

impl fmt::Display for Name<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut characters = self.0.chars();
        for character in characters.by_ref().take(Self::MAX) {
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

/// Writes `` `a`, `b` and `c` ``; of many only the first [`LISTED`], and how many more there are.
pub(crate) fn write_list<T: AsRef<str>>(f: &mut fmt::Formatter<'_>, items: &[T]) -> fmt::Result {
    let listed = items.len().min(LISTED);
    for (index, item) in items.iter().take(LISTED).enumerate() {
        let before = match index {
            0 => "",
            _ if index + 1 == items.len() => " and ",
            _ => ", ",
        };
        write!(f, "{before}`{}`", Name(item.as_ref()))?;
    }
    match items.len() - listed {
        0 => Ok(()),
        more => write!(f, " and {more} more"),
    }
}

const LISTED: usize = 20;

/// The text of a node's own error: on one line unless the long form is asked for, and without what
/// could steer a terminal.
pub(crate) struct Harmless<T>(pub(crate) T);

impl<T: fmt::Display> fmt::Display for Harmless<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            write!(Filter { out: f, lines: true }, "{:#}", self.0)
        } else {
            write!(Filter { out: f, lines: false }, "{}", self.0)
        }
    }
}

struct Filter<'a, 'f> {
    out: &'a mut fmt::Formatter<'f>,
    lines: bool,
}

impl Write for Filter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars().try_for_each(|character| match character {
            '\n' if self.lines => self.out.write_char('\n'),
            '\u{2028}' | '\u{2029}' => self.out.write_char(' '),
            _ if character.is_control() => self.out.write_char(' '),
            _ => self.out.write_char(character),
        })
    }
}
