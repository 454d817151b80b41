use std::fmt;

use cogwork_text::{Name, OneLine};

/// All problems of a text with tables.
///
/// The message has the first problem and the number of problems; the alternate form (`{:#}`) has
/// all problems, one per line.
#[derive(Clone, PartialEq, Eq)]
pub struct TableError {
    problems: Vec<TableProblem>,
    more: usize,
}

/// The problems found so far. The first 100 are kept, and the others are only counted.
#[derive(Default)]
pub(crate) struct Problems {
    kept: Vec<TableProblem>,
    more: usize,
}

impl Problems {
    const MAX: usize = 100;

    /// Returns whether further problems are only counted.
    pub(super) fn is_full(&self) -> bool {
        self.kept.len() >= Self::MAX
    }

    pub(crate) fn push(&mut self, problem: TableProblem) {
        if self.is_full() {
            self.more += 1;
        } else {
            self.kept.push(problem);
        }
    }

    /// Counts a problem without keeping it.
    pub(super) fn count(&mut self) {
        self.more += 1;
    }

    pub(crate) fn into_result(self) -> Result<(), TableError> {
        if self.kept.is_empty() {
            return Ok(());
        }

        Err(TableError {
            problems: self.kept,
            more: self.more,
        })
    }
}

/// A problem of a text with tables.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The line, counted from 1, of a text that isn't YAML or JSON.
    pub line: Option<usize>,
    /// The name of the strategy.
    pub strategy: Option<String>,
    /// The name of the stage.
    pub stage: Option<String>,
    /// The path of the parameter, such as `approaches[].promise`.
    pub parameter: Option<String>,
    /// What is wrong, and what is expected instead.
    pub message: String,
}

impl TableProblem {
    /// Creates a problem of a strategy, of a stage, or of a parameter.
    pub(crate) fn new(place: &[&str], message: String) -> Self {
        let part = |index: usize| place.get(index).map(|part| (*part).to_owned());
        Self {
            line: None,
            strategy: part(0),
            stage: part(1),
            parameter: part(2),
            message,
        }
    }
}

impl TableError {
    pub(super) fn syntax(message: &str, line: Option<usize>) -> Self {
        let message = OneLine::new(message).with_max_chars(MESSAGE).to_string();
        let problem = TableProblem {
            line,
            ..TableProblem::new(&[], message)
        };

        Self {
            problems: vec![problem],
            more: 0,
        }
    }

    /// Returns the problems, up to 100.
    pub fn problems(&self) -> &[TableProblem] {
        &self.problems
    }
}

/// The maximum length of a parser's message, in characters.
const MESSAGE: usize = 200;

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.problems.len() + self.more;
        match (f.alternate(), &self.problems[..]) {
            (_, [problem]) if self.more == 0 => write!(f, "{problem}"),
            (false, [first, ..]) => write!(f, "{count} problems in the tables, the first: {first}"),
            (true, problems) => {
                write!(f, "{count} problems in the tables:")?;
                problems
                    .iter()
                    .try_for_each(|problem| write!(f, "\n{problem}"))?;
                if self.more > 0 {
                    write!(f, "\nand {} more", self.more)
                } else {
                    Ok(())
                }
            }
            (false, []) => Ok(()),
        }
    }
}

cogwork_text::debug_as_display!(TableError);

impl std::error::Error for TableError {}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }

        let parts = [
            ("strategy", &self.strategy),
            ("stage", &self.stage),
            ("parameter", &self.parameter),
        ];
        let named = parts
            .iter()
            .filter_map(|(what, name)| Some(format!("{what} `{}`", Name(name.as_ref()?))));
        let place = named.collect::<Vec<_>>().join(", ");

        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}
