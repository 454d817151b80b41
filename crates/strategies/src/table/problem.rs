use std::fmt;

use cogwork_text::{Name, NameList, OneLine};

use crate::ParameterType;

/// Tables that are not whole, with every problem they have; of very many the first 100.
///
/// `{}` is one line, `{:#}` a line for each problem. What the tables say is escaped and cut.
#[derive(Clone, PartialEq, Eq)]
pub struct TableError {
    problems: Vec<TableProblem>,
    /// How many more there are.
    more: usize,
}

/// The problems of one text. Of very many only the first are kept: nobody reads more, and each costs
/// a search for its line.
#[derive(Default)]
pub(crate) struct Problems {
    kept: Vec<TableProblem>,
    more: usize,
}

impl Problems {
    const MAX: usize = 100;

    /// Whether further problems are only counted.
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

    /// Counts a problem that there is no room for.
    pub(super) fn count(&mut self) {
        self.more += 1;
    }

    /// An error with the problems by their lines, if there are any. What has no line comes last.
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

/// One problem of a table, and where it is.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct TableProblem {
    /// The line in the text, from 1, where it was found. Where something is said more than once it is
    /// the line of the first.
    pub line: Option<usize>,
    /// The strategy.
    pub strategy: Option<String>,
    /// The stage of it.
    pub stage: Option<String>,
    /// The parameter of the stage, and the place in it.
    pub parameter: Option<String>,
    /// What is wrong.
    pub kind: TableProblemKind,
}

/// What can be wrong with a table.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableProblemKind {
    /// The text cannot be read, or is larger than what is read.
    Syntax(String),
    /// A name is not 1 to 64 letters, digits, `_` and `-`.
    Name(String),
    /// A name of a strategy that another one has.
    NameTaken(String),
    /// A key, a stage or a parameter that is there twice.
    Duplicate(String),
    /// A key that is not known there.
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that are.
        known: Vec<&'static str>,
    },
    /// A value of another kind than its key has.
    WrongValue {
        /// The key.
        key: String,
        /// What it is.
        found: String,
        /// What would be accepted.
        expected: &'static str,
    },
    /// No description, or an empty one.
    NoDescription,
    /// No prompt, or an empty one.
    NoPrompt,
    /// A parameter without a type.
    NoType,
    /// A type that lacks the key that makes it whole: `items`, `fields` or `values`.
    NoInnerType(&'static str),
    /// A least bound above the most.
    EmptyRange,
    /// A strategy without stages.
    NoStages,
    /// A strategy without a final stage.
    NoFinalStage,
    /// A stage that may follow is not there.
    UndefinedTarget {
        /// The name of it.
        target: String,
        /// The stages there are.
        stages: Vec<String>,
    },
    /// A stage that may follow is named twice.
    RepeatedTarget(String),
    /// The start is not there.
    UndefinedStart {
        /// The name of it.
        start: String,
        /// The stages there are.
        stages: Vec<String>,
    },
    /// No way leads from the start to the stage.
    Unreachable,
    /// No way leads from the stage to a final one.
    NoWayToTheEnd,
    /// A final stage that something follows.
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

    /// Returns the problems by line, those without one last. Of more than 100 problems it has the first 100 that
    /// were found.
    pub fn problems(&self) -> &[TableProblem] {
        &self.problems
    }
}

/// Characters shown of what the YAML library says of a text.
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

impl fmt::Debug for TableError {
    /// The lines of `{:#}`: what a program shows that returns the error from `main`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:#}")
    }
}

impl std::error::Error for TableError {}

impl TableProblem {
    /// `place`: strategy, stage, parameter, as far as it goes.
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
                    "`{}` is no name; expected 1 to 64 letters, digits, `_` and `-`",
                    Name(name)
                )
            }
            Self::NameTaken(name) => {
                write!(
                    f,
                    "`{}` is the name of another strategy; expected one of its own",
                    Name(name)
                )
            }
            Self::Duplicate(name) => write!(f, "`{}` is there twice; expected once", Name(name)),
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
            Self::EmptyRange => f.write_str("`min` is above `max`; expected the least first"),
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
            Self::Unreachable => f.write_str("no way leads to it from the start"),
            Self::NoWayToTheEnd => f.write_str("no way leads from it to a final stage"),
            Self::FinalLeadsOn => {
                f.write_str("it is final, but has `next`; expected one or the other")
            }
        }
    }
}
