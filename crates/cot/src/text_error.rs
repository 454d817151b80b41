use cogwork_text::{OneLine, replace_unsafe};
use std::error::Error;
use std::fmt;

/// A problem with a text, and its place.
///
/// `{}` writes one line of limited length that is safe to show: the line and the column, what is
/// wrong, and what is expected instead. `{:#}` adds the lines around the place. If the problem is a
/// conflict between parts of the text, there is no place, and the message names the parts.
#[derive(Clone, PartialEq, Eq)]
pub struct TextError {
    message: String,
    place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    line: usize,
    column: Option<usize>,
    excerpt: String,
}

/// The number of lines that are shown before the one with the problem.
const LINES_BEFORE: usize = 2;
/// The maximum number of characters of a line that are shown.
const LINE_WIDTH: usize = 100;
/// The numbers of characters that are shown of the beginning and the end of a message. A message
/// may quote a whole text, and ends with what is expected instead.
const MESSAGE_ENDS: (usize, usize) = (100, 200);

impl TextError {
    pub(crate) fn new(message: impl fmt::Display) -> Self {
        Self {
            message: OneLine::new(message).to_string(),
            place: None,
        }
    }

    /// Creates an error whose message may contain any text of any length. The message is shown on
    /// one line and shortened in the middle.
    pub(crate) fn quoting(message: &str) -> Self {
        let (head, tail) = MESSAGE_ENDS;
        let line: Vec<char> = OneLine::new(message).to_string().chars().collect();
        let message = match (
            line.get(..head),
            line.len()
                .checked_sub(tail)
                .and_then(|from| line.get(from..)),
        ) {
            (Some(head), Some(tail)) if line.len() > MESSAGE_ENDS.0 + MESSAGE_ENDS.1 => {
                head.iter().chain(&[' ', '…', ' ']).chain(tail).collect()
            }
            _ => line.iter().collect::<String>(),
        };

        Self::new(message)
    }

    /// Adds the place at an offset in bytes, and the lines around it.
    pub(crate) fn at(mut self, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;

        // A long line is cut so that the column stays in view.
        let skipped = column.saturating_sub(LINE_WIDTH - 20);
        let mut excerpt = excerpt(text, line, skipped);
        excerpt.push_str(&format!("     | {:>width$}", "^", width = column - skipped));
        self.place = Some(Place {
            line,
            column: Some(column),
            excerpt,
        });
        self
    }

    /// Adds a line, from 1, with the lines before it.
    pub(crate) fn at_line(mut self, text: &str, line: usize) -> Self {
        self.place = Some(Place {
            line,
            column: None,
            excerpt: excerpt(text, line, 0).trim_end().to_owned(),
        });
        self
    }

    /// Returns what is wrong and what is expected instead, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line in the text, from 1.
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|place| place.line)
    }

    /// Returns the column in that line, in characters from 1.
    pub fn column(&self) -> Option<usize> {
        self.place.as_ref().and_then(|place| place.column)
    }
}

/// Returns a line and those before it. `skipped` characters of the line aren't shown.
fn excerpt(text: &str, line: usize, skipped: usize) -> String {
    let from = line.saturating_sub(LINES_BEFORE).max(1);
    let lines = (1..=line).zip(text.split('\n')).skip(from - 1);

    let lines = lines.map(|(number, content)| {
        let skipped = if number == line { skipped } else { 0 };
        let content = content.chars().skip(skipped).take(LINE_WIDTH);
        let content: String = content.map(shown).collect();
        format!("{number:>4} | {}\n", content.trim_end())
    });
    lines.collect()
}

/// Shows each character of an excerpt as one character, which keeps the column.
fn shown(character: char) -> char {
    if character.is_whitespace() {
        ' '
    } else {
        replace_unsafe(character)
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place } = self;
        let Some(Place {
            line,
            column,
            excerpt,
        }) = place
        else {
            return f.write_str(message);
        };

        write!(f, "line {line}")?;
        if let Some(column) = column {
            write!(f, ", column {column}")?;
        }
        write!(f, ": {message}")?;
        if f.alternate() {
            write!(f, "\n{excerpt}")?;
        }

        Ok(())
    }
}

cogwork_text::debug_as_display!(TextError);

impl Error for TextError {}

/// Removes the places that the YAML and JSON libraries add to their messages. They may be relative
/// to a block, and [`TextError`] shows the place in the whole text.
pub(crate) fn without_places(message: &str) -> String {
    let mut pieces = message.split(" at line ");
    let mut clean = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let rest = piece.trim_start_matches(|c: char| c.is_ascii_digit());
        match rest.strip_prefix(" column ") {
            Some(rest) => clean.push_str(rest.trim_start_matches(|c: char| c.is_ascii_digit())),
            None => clean.extend([" at line ", piece]),
        }
    }

    clean
}
