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
    /// The block uses anchors, aliases or deep nesting.
    Refused,
    /// The block is not YAML, or not a reply: a part is missing, unknown or of the wrong type.
    Invalid,
    /// The model reached its limit of tokens in the middle of the reply.
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

impl ReplyProblem {
    pub(crate) fn new(kind: ReplyProblemKind, message: impl Into<String>) -> Self {
        Self(Box::new(Inner { kind, message: message.into(), place: None }))
    }

    /// Adds a place, lines and columns counted from 1, and the lines around it.
    pub(crate) fn at(mut self, text: &str, line: usize, column: usize) -> Self {
        let mut excerpt = String::new();
        let from = line.saturating_sub(LINES_BEFORE).max(1);
        for (number, content) in
            (1..).zip(text.lines()).skip(from - 1).take_while(|(number, _)| *number <= line)
        {
            // A long line is cut so that the column stays in view.
            let skipped = if number == line { column.saturating_sub(LINE_WIDTH - 20) } else { 0 };
            let shown: String = content.chars().skip(skipped).take(LINE_WIDTH).map(harmless).collect();
            excerpt.push_str(&format!("{number:>4} | {shown}\n"));
            if number == line {
                excerpt.push_str(&format!("     | {:>width$}", "^", width = column.max(1) - skipped));
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

/// Control characters would move a terminal's cursor or change its colours.
fn harmless(character: char) -> char {
    if character.is_control() { ' ' } else { character }
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
