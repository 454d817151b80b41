use std::fmt::{self, Write};

use crate::limited::{Limited, limited};
use crate::replace_unsafe;

/// Prose on one line: each run of white space becomes one space, white space at either end is
/// removed, and [unsafe](crate::is_unsafe) characters are shown as U+FFFD.
///
/// ```
/// use cogwork_text::OneLine;
///
/// assert_eq!(OneLine::new(" two\n  lines\u{1b} ").to_string(), "two lines\u{fffd}");
/// assert_eq!(OneLine::new("abc def").with_max_chars(5).to_string(), "abc d…");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct OneLine<T> {
    text: T,
    max_chars: usize,
}

limited!(OneLine);

impl<T: fmt::Display> fmt::Display for OneLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut joining = Joining {
            out: Limited::new(f, self.max_chars),
            gap: Gap::Start,
        };

        let written = write!(joining, "{}", self.text);
        joining.out.end(written)
    }
}

/// Joins words with single spaces.
struct Joining<'a, 'f> {
    out: Limited<'a, 'f>,
    gap: Gap,
}

/// What precedes the next character.
enum Gap {
    /// Only white space since the start of the text.
    Start,
    /// A word.
    None,
    /// A word and white space.
    Some,
}

impl Write for Joining<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars()
            .try_for_each(|character| self.write_character(character))
    }
}

impl Joining<'_, '_> {
    fn write_character(&mut self, character: char) -> fmt::Result {
        if character.is_whitespace() {
            if matches!(self.gap, Gap::None) {
                self.gap = Gap::Some;
            }
            return Ok(());
        }

        // Written before the next word, so that no blank is left at the end.
        if matches!(self.gap, Gap::Some) {
            self.out.put(' ')?;
        }

        self.gap = Gap::None;
        self.out.put(replace_unsafe(character))
    }
}

/// Prose on several lines: line breaks and tabs are kept, and other [unsafe](crate::is_unsafe)
/// characters are shown as U+FFFD. Every form of line break becomes a line feed.
///
/// ```
/// use cogwork_text::MultiLine;
///
/// assert_eq!(MultiLine::new("one\r\n\ttwo\u{2028}three\u{1b}").to_string(), "one\n\ttwo\nthree\u{fffd}");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct MultiLine<T> {
    text: T,
    max_chars: usize,
}

limited!(MultiLine);

impl<T: fmt::Display> fmt::Display for MultiLine<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut breaking = Breaking {
            out: Limited::new(f, self.max_chars),
            after_return: false,
        };

        let written = write!(breaking, "{}", self.text);
        breaking.out.end(written)
    }
}

/// Writes every line break as a line feed.
struct Breaking<'a, 'f> {
    out: Limited<'a, 'f>,
    /// Whether the last character was a carriage return. A line feed after it belongs to the same
    /// line break.
    after_return: bool,
}

impl Write for Breaking<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.chars()
            .try_for_each(|character| self.write_character(character))
    }
}

impl Breaking<'_, '_> {
    fn write_character(&mut self, character: char) -> fmt::Result {
        // The carriage return was written as the line break already.
        let ends_pair = self.after_return && character == '\n';
        self.after_return = character == '\r';

        match character {
            '\n' if ends_pair => Ok(()),
            '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                self.out.put('\n')
            }
            '\t' => self.out.put('\t'),
            _ => self.out.put(replace_unsafe(character)),
        }
    }
}

/// An error of another crate, or another value with a short and a long form: `{}` shows the short
/// form as [`OneLine`], `{:#}` the long form as [`MultiLine`].
///
/// ```
/// use cogwork_text::ErrorText;
///
/// let error = "no answer:\n\u{1b}[31mtimeout";
/// assert_eq!(format!("{}", ErrorText(error)), "no answer: \u{fffd}[31mtimeout");
/// assert_eq!(format!("{:#}", ErrorText(error)), "no answer:\n\u{fffd}[31mtimeout");
/// ```
#[derive(Debug, Clone, Copy)]
pub struct ErrorText<T>(pub T);

impl<T: fmt::Display> fmt::Display for ErrorText<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if f.alternate() {
            MultiLine::new(format_args!("{:#}", self.0)).fmt(f)
        } else {
            OneLine::new(&self.0).fmt(f)
        }
    }
}
