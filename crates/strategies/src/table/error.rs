use std::fmt;

use cogwork_text::OneLine;

/// The problems of a text with tables, up to 100.
///
/// The message has the first problem and the number of problems; the alternate form (`{:#}`) has
/// all problems, one per line.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct TableError {
    problems: Vec<TableProblem>,
}

/// A problem of a text with tables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The keys that lead to it, such as `mine.stages.begin.next`. It is empty for the whole text.
    pub place: String,
    /// What is wrong, and what is expected instead.
    pub message: String,
}

impl TableError {
    const MAX_PROBLEMS: usize = 100;

    /// The maximum length of a message, in characters.
    const MAX_MESSAGE: usize = 800;

    /// Creates the error for a text that isn't YAML or JSON. The parser's message may repeat the
    /// line.
    pub(super) fn syntax(message: &str, line: Option<usize>) -> Self {
        let message = message
            .split_once(" at line ")
            .map_or(message, |(what, _)| what);

        let mut error = Self::default();
        match line {
            Some(line) => error.push("", format_args!("line {line}: {message}")),
            None => error.push("", message),
        }
        error
    }

    /// Adds a problem at a place.
    pub(crate) fn push(&mut self, place: &str, message: impl fmt::Display) {
        // A table that somebody else wrote may be wrong in every line.
        if self.problems.len() < Self::MAX_PROBLEMS {
            let message = OneLine::new(message).with_max_chars(Self::MAX_MESSAGE);
            self.problems.push(TableProblem {
                place: place.to_owned(),
                message: message.to_string(),
            });
        }
    }

    /// Returns `value`, unless there are problems.
    pub(crate) fn or<T>(self, value: T) -> Result<T, Self> {
        if self.problems.is_empty() {
            Ok(value)
        } else {
            Err(self)
        }
    }

    /// Returns the problems.
    pub fn problems(&self) -> &[TableProblem] {
        &self.problems
    }
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len();
        match &self.problems[..] {
            [problem] => write!(f, "{problem}"),
            [first, ..] if !f.alternate() => {
                write!(f, "{count} problems in the tables, the first: {first}")
            }
            problems => {
                write!(f, "{count} problems in the tables:")?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "\n{problem}"))
            }
        }
    }
}

cogwork_text::debug_as_display!(TableError);

impl std::error::Error for TableError {}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.place.is_empty() {
            write!(f, "`{}`: ", OneLine::new(&self.place).with_max_chars(200))?;
        }
        f.write_str(&self.message)
    }
}
