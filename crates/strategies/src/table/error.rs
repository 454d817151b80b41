use std::fmt;

use cogwork_text::{Name, OneLine};

/// All problems of a text with tables, up to 100.
///
/// The message has the first problem and the number of problems; the alternate form (`{:#}`) has
/// all problems, one per line.
#[derive(Clone, PartialEq, Eq)]
pub struct TableError {
    problems: Vec<TableProblem>,
}

/// A problem of a text with tables.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The line, counted from 1, of a text that isn't YAML or JSON.
    pub line: Option<usize>,
    /// The name of the strategy.
    pub strategy: Option<String>,
    /// The name of the stage.
    pub stage: Option<String>,
    /// The key in the stage or the strategy, such as `parameters.score`.
    pub key: Option<String>,
    /// What is wrong, and what is expected instead.
    pub message: String,
}

impl TableProblem {
    pub(crate) fn of(strategy: &str) -> Self {
        Self {
            strategy: Some(strategy.to_owned()),
            ..Self::default()
        }
    }

    pub(super) fn at_stage(mut self, stage: &str) -> Self {
        self.stage = Some(stage.to_owned());
        self
    }

    /// Adds a key to the path, unless it is `.`, which means the whole value.
    pub(super) fn at_key(mut self, key: &str) -> Self {
        if key != "." {
            let outer = self.key.map(|outer| format!("{outer}."));
            self.key = Some(outer.unwrap_or_default() + key);
        }
        self
    }
}

/// The problems found so far, up to 100.
#[derive(Default)]
pub(crate) struct Problems(Vec<TableProblem>);

impl Problems {
    const MAX: usize = 100;

    /// The maximum length of a message, in characters.
    const MAX_MESSAGE: usize = 1_000;

    /// Adds a problem at a place.
    pub(crate) fn push(&mut self, place: &TableProblem, message: impl fmt::Display) {
        if self.0.len() < Self::MAX {
            let message = OneLine::new(message).with_max_chars(Self::MAX_MESSAGE);
            self.0.push(TableProblem {
                message: message.to_string(),
                ..place.clone()
            });
        }
    }

    pub(crate) fn into_result(self) -> Result<(), TableError> {
        if self.0.is_empty() {
            return Ok(());
        }

        Err(TableError { problems: self.0 })
    }
}

impl TableError {
    /// Creates the error for a text that isn't YAML or JSON. The parser's message may repeat the
    /// line.
    pub(super) fn syntax(message: &str, line: Option<usize>) -> Self {
        let message = message
            .split_once(" at line ")
            .map_or(message, |(what, _)| what);
        let message = match message.strip_prefix("duplicate entry with key ") {
            Some(key) => format!("`{}` is defined twice", Name(key.trim_matches('"'))),
            None => message.to_owned(),
        };

        let mut problems = Problems::default();
        let place = TableProblem {
            line,
            ..TableProblem::default()
        };

        problems.push(&place, message);
        Self {
            problems: problems.0,
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
            [] => Ok(()),
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
        if let Some(line) = self.line {
            write!(f, "line {line}: ")?;
        }

        let parts = [
            ("strategy ", &self.strategy),
            ("stage ", &self.stage),
            ("", &self.key),
        ];
        let named = parts
            .iter()
            .filter_map(|(what, name)| Some(format!("{what}`{}`", Name(name.as_ref()?))));
        let place = named.collect::<Vec<_>>().join(", ");

        if !place.is_empty() {
            write!(f, "{place}: ")?;
        }
        f.write_str(&self.message)
    }
}
