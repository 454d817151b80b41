use std::fmt;

use cogwork_text::{Name, NameList, OneLine};

use crate::ParameterType;

/// The problems of a text with tables: the first 100, if there are more.
///
/// `{}` writes a single line, and `{:#}` a line for each problem. Text from the tables is escaped
/// and truncated.
#[derive(Clone, PartialEq, Eq)]
pub struct TableError {
    problems: Vec<TableProblem>,
    /// The number of problems beyond the first 100.
    more: usize,
}

/// The problems of one text. Only the first 100 are kept, since each one costs a search for its
/// line.
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

    /// Returns an error with the problems sorted by line, if there are any. Problems without a line
    /// come last.
    pub(crate) fn into_result(self) -> Result<(), TableError> {
        let Self { mut kept, more } = self;
        if kept.is_empty() {
            return Ok(());
        }

        kept.sort_by_key(|problem| problem.line.unwrap_or(usize::MAX));
        Err(TableError {
            problems: kept,
            more,
        })
    }
}

/// A problem of a table, with its position.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The line in the text, counted from 1, if it is known. A duplicate is reported at the first
    /// occurrence.
    pub line: Option<usize>,
    /// The name of the strategy.
    pub strategy: Option<String>,
    /// The name of the stage.
    pub stage: Option<String>,
    /// The name of the parameter, and the path inside it.
    pub parameter: Option<String>,
    /// The problem.
    pub kind: TableProblemKind,
}

/// A kind of problem in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableProblemKind {
    /// The text can't be parsed, or is too long.
    Syntax(String),
    /// A name isn't 1 to 64 letters, digits, `_` and `-`.
    Name(String),
    /// The name or alias of a strategy is already in use.
    NameTaken(String),
    /// A key, a stage or a parameter is defined twice.
    Duplicate(String),
    /// A key isn't known.
    UnknownKey {
        /// The key.
        key: String,
        /// The known keys.
        known: Vec<&'static str>,
    },
    /// A value is of the wrong type.
    WrongValue {
        /// The key.
        key: String,
        /// The value that was found.
        found: String,
        /// The expected value.
        expected: &'static str,
    },
    /// The description is missing or empty.
    NoDescription,
    /// The prompt is missing or empty.
    NoPrompt,
    /// A parameter has no type.
    NoType,
    /// A type lacks a key that it needs: `items`, `fields` or `values`.
    NoInnerType(&'static str),
    /// The minimum is greater than the maximum.
    EmptyRange,
    /// A strategy has no stages.
    NoStages,
    /// A strategy has no final stage.
    NoFinalStage,
    /// `next` names a stage that doesn't exist.
    UndefinedTarget {
        /// The name.
        target: String,
        /// The existing stages.
        stages: Vec<String>,
    },
    /// `next` names a stage twice.
    RepeatedTarget(String),
    /// `start` names a stage that doesn't exist.
    UndefinedStart {
        /// The name.
        start: String,
        /// The existing stages.
        stages: Vec<String>,
    },
    /// The stage can't be reached from the start.
    Unreachable,
    /// The stage doesn't lead to a final one.
    NoWayToTheEnd,
    /// A final stage has a `next`.
    FinalLeadsOn,
}

impl TableError {
    pub(super) fn syntax(message: String, line: Option<usize>) -> Self {
        let problem = TableProblem {
            line,
            ..TableProblem::new(&[], TableProblemKind::Syntax(message))
        };
        Self {
            problems: vec![problem],
            more: 0,
        }
    }

    /// Returns the problems sorted by line, with those without a line last. Only the first 100
    /// problems that were found are included.
    pub fn problems(&self) -> &[TableProblem] {
        &self.problems
    }
}

/// The maximum number of characters of a message from the YAML parser.
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

impl TableProblem {
    /// Creates a problem. `place` has the names of the strategy, the stage and the parameter, as
    /// far as they apply.
    pub(super) fn new(place: &[&str], kind: TableProblemKind) -> Self {
        let part = |index: usize| place.get(index).map(|part| (*part).to_owned());
        Self {
            line: None,
            strategy: part(0),
            stage: part(1),
            parameter: part(2),
            kind,
        }
    }
}

impl fmt::Display for TableProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let line = self.line.map(|line| format!("line {line}"));
        let named = |what: &str, name: &Option<String>| {
            name.as_ref().map(|name| format!("{what} `{}`", Name(name)))
        };
        let parts = [
            named("strategy", &self.strategy),
            named("stage", &self.stage),
            named("parameter", &self.parameter),
        ];

        let parts: Vec<String> = parts.into_iter().flatten().collect();
        let place = if parts.is_empty() {
            None
        } else {
            Some(parts.join(", "))
        };

        for part in line.iter().chain(&place) {
            write!(f, "{part}: ")?;
        }

        write!(f, "{}", self.kind)
    }
}

impl fmt::Display for TableProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(message) => OneLine::new(message).with_max_chars(MESSAGE).fmt(f),
            Self::Name(name) => {
                write!(
                    f,
                    "`{}` is not a valid name; expected 1 to 64 letters, digits, `_` and `-`",
                    Name(name)
                )
            }
            Self::NameTaken(name) => {
                write!(
                    f,
                    "`{}` is the name of a different strategy; choose another name",
                    Name(name)
                )
            }
            Self::Duplicate(name) => write!(f, "`{}` is defined twice", Name(name)),
            Self::UnknownKey { key, known } => {
                write!(
                    f,
                    "`{}` is not a key here; expected {}",
                    Name(key),
                    NameList::or(known)
                )
            }
            Self::WrongValue {
                key,
                found,
                expected,
            } => {
                write!(f, "`{}` is {}; expected {expected}", Name(key), Name(found))
            }
            Self::NoDescription => f.write_str("it has no `description`; expected a text"),
            Self::NoPrompt => f.write_str("it has no `prompt`; expected a text"),
            Self::NoType => {
                write!(
                    f,
                    "it has no `type`; expected {}",
                    NameList::or(ParameterType::NAMES)
                )
            }
            Self::NoInnerType(key) => write!(f, "it has no `{}`, which its type needs", Name(key)),
            Self::EmptyRange => f.write_str("`min` is greater than `max`"),
            Self::NoStages => f.write_str("it has no `stages`; expected at least one"),
            Self::NoFinalStage => {
                f.write_str("no stage is final; expected `final: true` in at least one")
            }
            Self::UndefinedTarget { target, stages } => {
                let target = Name(target);
                write!(
                    f,
                    "`next` names `{target}`, which is not a stage; expected {}",
                    NameList::or(stages)
                )
            }
            Self::RepeatedTarget(target) => {
                write!(f, "`next` names `{}` twice; expected once", Name(target))
            }
            Self::UndefinedStart { start, stages } => {
                let start = Name(start);
                write!(
                    f,
                    "`start` names `{start}`, which is not a stage; expected {}",
                    NameList::or(stages)
                )
            }
            Self::Unreachable => f.write_str("it cannot be reached from the start"),
            Self::NoWayToTheEnd => f.write_str("it does not lead to a final stage"),
            Self::FinalLeadsOn => {
                f.write_str("it has both `final` and `next`; expected one of them")
            }
        }
    }
}
