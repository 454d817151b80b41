use std::collections::HashSet;

use cogwork_text::{Name, NameList};

use crate::table::TableError;
use crate::{Strategy, table};

/// A set of strategies, built in or read from YAML or JSON.
///
/// A text contains one or more tables, by name:
///
/// | key of a strategy | meaning |
/// |---|---|
/// | `description` | what the strategy does |
/// | `start` | the stage in which a session starts; by default, the first one |
/// | `stages` | the stages by name |
///
/// | key of a stage | meaning |
/// |---|---|
/// | `description` | the purpose of the stage |
/// | `prompt` | the question for the model |
/// | `next` | the stages that may follow |
/// | `final` | `true` if the strategy ends here, without a `next` |
/// | `parameters` | the parameters of a thought by name, which is not `next`; see [`Parameter`](crate::table::Parameter) |
///
/// A text is checked as a whole, and all problems are reported together; see [`TableError`].
///
/// ```
/// use cogwork_strategies::Strategies;
///
/// let mine = Strategies::from_yaml("
/// guess_and_check:
///   description: Guess until a guess is right.
///   stages:
///     guess:
///       description: One guess.
///       prompt: Make a guess.
///       parameters:
///         value: {type: number, minimum: 0, description: What is guessed.}
///       next: [check]
///     check:
///       description: Whether it is right.
///       prompt: Check the guess.
///       next: [guess, answer]
///     answer:
///       description: The answer.
///       prompt: Give the answer.
///       final: true
/// ")?;
/// assert_eq!(mine.get("guess_and_check")?.start().prompt, "Make a guess.");
///
/// let error = Strategies::from_yaml("
/// endless:
///   description: Goes round and round.
///   stages:
///     round: {description: Round., prompt: Go on., next: [round, home]}
/// ").unwrap_err();
/// assert_eq!(format!("{error:#}"), "\
/// 2 problems in the tables:
/// `endless.stages.round.next`: `home` is not a stage; expected `round`
/// `endless`: no stage is final; expected `final: true` in at least one");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strategies {
    list: Vec<Strategy>,
}

impl Strategies {
    /// Reads tables from YAML of up to [`MAX_TABLE_BYTES`](crate::table::MAX_TABLE_BYTES). JSON is
    /// YAML, too.
    ///
    /// # Errors
    ///
    /// Returns the problems of the text, up to 100, each with its line if it can be determined.
    /// Anchors, tags, directives and keys after a `?` aren't supported.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        Ok(Self {
            list: table::from_yaml(text)?,
        })
    }

    /// Adds the strategies of another set.
    ///
    /// # Errors
    ///
    /// Returns a problem for each name that is in both sets. In that case,
    /// nothing is added.
    pub fn extend(&mut self, other: Self) -> Result<(), TableError> {
        let known = self.list.iter().map(Strategy::name);
        let mut taken: HashSet<String> = known.map(str::to_owned).collect();
        let mut error = TableError::default();

        for new in &other.list {
            table::check_names(new, &mut taken, &mut error);
        }
        // Before anything is added, so that a set is extended as a whole or not at all.
        error.or(())?;

        self.list.extend(other.list);
        Ok(())
    }

    /// Returns the strategy with this name.
    ///
    /// # Errors
    ///
    /// Returns an [`UnknownStrategy`] that lists the known names.
    pub fn get(&self, name: &str) -> Result<&Strategy, UnknownStrategy> {
        let found = self.list.iter().find(|strategy| strategy.name() == name);
        found.ok_or_else(|| self.unknown(name))
    }

    pub(crate) fn unknown(&self, name: &str) -> UnknownStrategy {
        let known = self.list.iter().map(Strategy::name);
        UnknownStrategy {
            name: name.to_owned(),
            known: known.map(str::to_owned).collect(),
        }
    }

    /// Returns the strategies in the order of the text they were read from.
    pub fn iter(&self) -> impl Iterator<Item = &Strategy> {
        self.list.iter()
    }
}

/// The error for a name that no strategy has.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a strategy; expected {}", Name(name), NameList::or(known))]
pub struct UnknownStrategy {
    name: String,
    known: Vec<String>,
}

cogwork_text::debug_as_display!(UnknownStrategy);
