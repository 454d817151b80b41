use std::fmt;

use crate::limited::{limited, write_limited};
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
        let (mut has_words, mut is_in_gap) = (false, false);

        write_limited(f, &self.text, self.max_chars, |out, character| {
            if character.is_whitespace() {
                is_in_gap = has_words;
                return Ok(());
            }

            // Written before the next word, so that no blank is left at the end.
            if is_in_gap {
                out.put(' ')?;
            }
            (has_words, is_in_gap) = (true, false);
            out.put(replace_unsafe(character))
        })
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
        let mut is_after_return = false;

        write_limited(f, &self.text, self.max_chars, |out, character| {
            // The carriage return was written as the line break already.
            let ends_pair = is_after_return && character == '\n';
            is_after_return = character == '\r';

            match character {
                '\n' if ends_pair => Ok(()),
                '\n' | '\u{b}' | '\u{c}' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => {
                    out.put('\n')
                }
                '\t' => out.put('\t'),
                _ => out.put(replace_unsafe(character)),
            }
        })
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

/// Returns a count with its noun, whose plural has an `s` at the end.
///
/// ```
/// use cogwork_text::counted;
///
/// assert_eq!(counted(1, "call"), "1 call");
/// assert_eq!(counted(0, "tool call"), "0 tool calls");
/// ```
pub fn counted(count: impl fmt::Display, what: &str) -> String {
    match count.to_string().as_str() {
        "1" => format!("1 {what}"),
        count => format!("{count} {what}s"),
    }
}
