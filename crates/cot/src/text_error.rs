use std::error::Error;
use std::fmt;

use cogwork_text::{OneLine, replace_unsafe};

/// A problem with a text, and its place.
///
/// `{}` writes one line of limited length that is safe to show: the line, what is
/// wrong, and what is expected instead. `{:#}` adds the lines around the place. If the problem is a
/// conflict between parts of the text, there is no place, and the message names the parts.
#[derive(Clone, PartialEq, Eq)]
pub struct TextError {
    message: String,
    /// The line, and an excerpt that ends with it.
    place: Option<(usize, String)>,
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
    pub(crate) fn quoting(message: impl fmt::Display) -> Self {
        // serde quotes what it found, which may be the whole text.
        let line = OneLine::new(message).to_string();
        // The beginning says where the fault is, and the end what is expected.
        let (head, tail) = MESSAGE_ENDS;
        let cut = line.chars().count().saturating_sub(head + tail);
        if cut == 0 {
            return Self::new(line);
        }

        let start: String = line.chars().take(head).collect();
        let end: String = line.chars().skip(head + cut).collect();
        Self::new(format!("{start} … {end}"))
    }

    /// Adds a line, from 1, with the lines before it.
    pub(crate) fn at_line(mut self, text: &str, line: usize) -> Self {
        self.place = Some((line, excerpt(text, line).trim_end().to_owned()));
        self
    }

    /// Returns what is wrong and what is expected instead, without the place.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Returns the line in the text, from 1.
    pub fn line(&self) -> Option<usize> {
        self.place.as_ref().map(|(line, _)| *line)
    }
}

/// Returns a line and those before it.
fn excerpt(text: &str, line: usize) -> String {
    // A fault often shows a line after it was made.
    let from = line.saturating_sub(LINES_BEFORE).max(1);
    let lines = (1..=line).zip(text.split('\n')).skip(from - 1);

    let lines = lines.map(|(number, content)| {
        let content: String = content.chars().take(LINE_WIDTH).map(shown).collect();
        format!("{number:>4} | {}\n", content.trim_end())
    });
    lines.collect()
}

/// Shows each character of an excerpt as one character.
fn shown(character: char) -> char {
    if character.is_whitespace() {
        ' '
    } else {
        replace_unsafe(character)
    }
}

/// Refuses a text that is too long.
pub(crate) fn check_length(text: &str, max_bytes: usize) -> Result<(), TextError> {
    match text.len() {
        bytes if bytes > max_bytes => Err(TextError::new(format_args!(
            "the text has {bytes} bytes; expected at most {max_bytes}"
        ))),
        _ => Ok(()),
    }
}

impl fmt::Display for TextError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { message, place } = self;
        let Some((line, excerpt)) = place else {
            return f.write_str(message);
        };

        write!(f, "line {line}: {message}")?;
        if f.alternate() {
            write!(f, "\n{excerpt}")?;
        }

        Ok(())
    }
}

cogwork_text::debug_as_display!(TextError);

impl Error for TextError {}
