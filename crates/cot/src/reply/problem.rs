use std::fmt;

/// What kind of fault a reply has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReplyProblemKind {
    /// There is no text.
    Empty,
    /// The text is longer than what is read.
    TooLong,
    /// The text has no YAML block: prose, or a refusal.
    NoBlock,
    /// The block uses YAML that no reply needs: anchors, aliases, tags, deep nesting and the like.
    Refused,
    /// The block is not YAML, or not a reply: a part is missing, unknown or of the wrong type.
    Invalid,
    /// The model stopped in the middle of the reply: at its limit of tokens, by a filter, or for another
    /// reason of its backend's.
    CutOff,
    /// The reply ends the reasoning while steps of its plan are not done.
    EndedEarly,
}

/// Why a reply could not be used, and where in its text.
///
/// `{}` is one line, in words a model can act on; `{:#}` adds the lines around the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplyProblem(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    kind: ReplyProblemKind,
    message: String,
    place: Option<Place>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Place {
    line: usize,
    column: usize,
    excerpt: String,
}

/// Lines shown before the one at fault.
const LINES_BEFORE: usize = 2;
/// Characters shown of a line.
const LINE_WIDTH: usize = 100;
/// Characters shown of the beginning and of the end of a message: it may quote the whole of a wrong
/// text, and what would have been accepted stands last.
const MESSAGE_ENDS: (usize, usize) = (100, 200);

impl ReplyProblem {
    pub(crate) fn new(kind: ReplyProblemKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place: None }))
    }

    /// With a message that may hold any text, of any length: one line of it, shortened in the middle.
    pub(super) fn quoting(kind: ReplyProblemKind, message: &str) -> Self {
        let (head, tail) = MESSAGE_ENDS;
        let line: Vec<char> = message.chars().map(harmless).collect();
        let message = match (line.get(..head), line.len().checked_sub(tail).and_then(|from| line.get(from..)))
        {
            (Some(head), Some(tail)) if line.len() > MESSAGE_ENDS.0 + MESSAGE_ENDS.1 => {
                head.iter().chain(&[' ', '…', ' ']).chain(tail).collect()
            }
            _ => line.iter().collect::<String>(),
        };
        Self::new(kind, message)
    }

    /// Adds the place at an offset in bytes, and the lines around it.
    pub(super) fn at(mut self, text: &str, offset: usize) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line_start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = before.matches('\n').count() + 1;
        let column = before.get(line_start..).unwrap_or_default().chars().count() + 1;
        let mut excerpt = String::new();
        let from = line.saturating_sub(LINES_BEFORE).max(1);
        for (number, content) in (1..=line).zip(text.split('\n')).skip(from - 1) {
            // A long line is cut so that the column stays in view.
            let skipped = if number == line { column.saturating_sub(LINE_WIDTH - 20) } else { 0 };
            let shown: String = content.chars().skip(skipped).take(LINE_WIDTH).map(harmless).collect();
            excerpt.push_str(&format!("{number:>4} | {}\n", shown.trim_end()));
            if number == line {
                excerpt.push_str(&format!("     | {:>width$}", "^", width = column - skipped));
            }
        }
        self.0.place = Some(Place { line, column, excerpt });
        self
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> ReplyProblemKind {
        self.0.kind
    }

    /// What is wrong, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The line in the raw reply, from 1.
    pub fn line(&self) -> Option<usize> {
        self.0.place.as_ref().map(|place| place.line)
    }

    /// The column in that line, from 1.
    pub fn column(&self) -> Option<usize> {
        self.0.place.as_ref().map(|place| place.column)
    }
}

/// Control characters and marks of direction would steer a terminal. A blank keeps the column.
fn harmless(character: char) -> char {
    match character {
        '\u{61c}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}'
        | '\u{feff}' => ' ',
        _ if character.is_control() => ' ',
        _ => character,
    }
}

impl fmt::Display for ReplyProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { message, place, .. } = self.0.as_ref();
        let Some(Place { line, column, excerpt }) = place else { return f.write_str(message) };
        write!(f, "line {line}, column {column}: {message}")?;
        if f.alternate() {
            write!(f, "\n{excerpt}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReplyProblem {}
