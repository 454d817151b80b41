use std::collections::HashSet;

use cogwork_read::charge;
use cogwork_text::{Name, NameList};
use serde::de::Error as _;
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::{self, Problems};
use crate::{Strategy, TableError, TableProblemKind};

/// Strategies under their names: the crate's own, or read from YAML or JSON.
///
/// A text has one table or several, each under its name:
///
/// | key of a strategy | what it is |
/// |---|---|
/// | `description` | what the strategy does |
/// | `aliases` | other names for it; none unless given |
/// | `start` | the stage where a session begins; the first unless given |
/// | `stages` | the stages, each under its name |
///
/// | key of a stage | what it is |
/// |---|---|
/// | `description` | what the stage is for |
/// | `prompt` | what the model is asked in it |
/// | `next` | the stages that may follow |
/// | `final` | `true` where the strategy ends; nothing follows there |
/// | `parameters` | what a thought in it carries, each under its name: see [`Parameter`](crate::Parameter) |
///
/// A text is checked whole, and every problem reported at once: see [`TableProblemKind`].
///
/// ```
/// use cogwork_strategies::{StageManager, Strategies};
///
/// let mine = Strategies::from_yaml("
/// guess_and_check:
///   description: Guess until a guess is right.
///   stages:
///     guess:
///       description: One guess.
///       prompt: Make a guess.
///       parameters:
///         value: {type: number, min: 0, description: What is guessed.}
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
/// let manager = StageManager::new(mine.get("guess_and_check")?.clone());
/// assert_eq!(manager.current().prompt(), "Make a guess.");
///
/// let error = Strategies::from_yaml("
/// endless:
///   description: Goes round and round.
///   stages:
///     round: {description: Round., prompt: Go on., next: [round, home]}
/// ").unwrap_err();
/// assert_eq!(format!("{error:#}"), "\
/// 2 problems in the tables:
/// line 2: strategy `endless`: no stage is final; expected `final: true` in at least one
/// line 5: strategy `endless`, stage `round`: `next` names `home`, which is not a stage; expected `round`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Strategies {
    list: Vec<Strategy>,
}

impl Strategies {
    /// Reads tables from YAML of at most [`MAX_TABLE_BYTES`](crate::MAX_TABLE_BYTES).
    ///
    /// # Errors
    ///
    /// The problems of the text, at most 100 of them, each with its line where it can be found. Tags,
    /// directives and keys after a `?` are refused.
    pub fn from_yaml(text: &str) -> Result<Self, TableError> {
        Ok(Self {
            list: table::from_yaml(text)?,
        })
    }

    /// Reads tables from JSON of at most [`MAX_TABLE_BYTES`](crate::MAX_TABLE_BYTES).
    ///
    /// # Errors
    ///
    /// The problems of the text, at most 100 of them, each with its line where it can be found.
    pub fn from_json(text: &str) -> Result<Self, TableError> {
        Ok(Self {
            list: table::from_json(text)?,
        })
    }

    /// Adds the strategies of another set.
    ///
    /// # Errors
    ///
    /// Every name that both have, as [`TableProblemKind::NameTaken`]. Nothing is added then.
    pub fn extend(&mut self, other: Self) -> Result<(), TableError> {
        let taken: HashSet<&str> = self.list.iter().flat_map(Strategy::names).collect();
        let mut problems = Problems::default();

        for new in &other.list {
            for name in new.names().filter(|name| taken.contains(name)) {
                let kind = TableProblemKind::NameTaken(name.to_owned());
                problems.push(table::problem(new.name(), kind));
            }
        }

        problems.into_result()?;

        self.list.extend(other.list);
        Ok(())
    }

    /// The strategy with this name, its own or another for it.
    ///
    /// # Errors
    ///
    /// [`UnknownStrategy`], with the names there are.
    pub fn get(&self, name: &str) -> Result<&Strategy, UnknownStrategy> {
        self.find(name).ok_or_else(|| self.unknown(name))
    }

    fn find(&self, name: &str) -> Option<&Strategy> {
        charge(self.list.len());
        self.list
            .iter()
            .find(|strategy| strategy.names().any(|known| known == name))
    }

    pub(crate) fn unknown(&self, name: &str) -> UnknownStrategy {
        let known = self
            .list
            .iter()
            .flat_map(Strategy::names)
            .map(str::to_owned)
            .collect();
        UnknownStrategy {
            name: name.to_owned(),
            known,
        }
    }

    /// All of them, in the order of the text they were read from.
    pub fn iter(&self) -> impl Iterator<Item = &Strategy> {
        self.list.iter()
    }
}

/// In the form in which tables are written.
impl Serialize for Strategies {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.list.len()))?;
        for strategy in &self.list {
            map.serialize_entry(strategy.name(), strategy)?;
        }

        map.end()
    }
}

/// Checked like any text; the error tells the first problem and how many there are.
impl<'de> Deserialize<'de> for Strategies {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let list = table::deserialize(deserializer)?.map_err(D::Error::custom)?;
        Ok(Self { list })
    }
}

impl FromIterator<Strategy> for Strategies {
    /// Of several with one name the first is found.
    fn from_iter<I: IntoIterator<Item = Strategy>>(strategies: I) -> Self {
        Self {
            list: strategies.into_iter().collect(),
        }
    }
}

/// No strategy has this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is not a strategy; expected {}", Name(name), NameList::or(known))]
pub struct UnknownStrategy {
    name: String,
    known: Vec<String>,
}

impl UnknownStrategy {
    /// The name that was asked for.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names there are, other names for the same strategy among them.
    pub fn known(&self) -> &[String] {
        &self.known
    }
}
