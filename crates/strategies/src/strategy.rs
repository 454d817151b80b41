use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::Parameter;

/// A strategy: its stages, and which of them may follow which. Cloning shares the table.
///
/// A strategy is always valid: every stage can be reached from the start and leads to a final one.
/// It is obtained from a [`StrategyName`](crate::StrategyName), by `str::parse`, or from
/// [`Strategies`](crate::Strategies).
///
/// ```
/// use cogwork_strategies::StrategyName;
///
/// let strategy = StrategyName::React.strategy();
/// let checkpoint = strategy.stage("evaluation_checkpoint").ok_or("no such stage")?;
/// let next: Vec<_> = strategy.next(checkpoint).map(|stage| stage.name()).collect();
/// assert_eq!(next, ["action_planning", "solution_formulation"]);
///
/// let needs = strategy.stage("observation_reception").ok_or("no such stage")?.parameters();
/// assert!(needs["observation"].is_required());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Strategy(pub(crate) Arc<Table>);

pub(crate) struct Table {
    pub(crate) name: String,
    pub(crate) aliases: Vec<String>,
    pub(crate) description: String,
    pub(crate) start: usize,
    pub(crate) stages: Vec<Stage>,
    pub(crate) by_name: HashMap<String, usize>,
}

/// A stage of a strategy.
#[derive(Debug, Clone)]
pub struct Stage {
    pub(crate) index: usize,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) prompt: String,
    pub(crate) parameters: BTreeMap<String, Parameter>,
    pub(crate) next: Vec<usize>,
    /// The names of the stages in `next`, for errors and for writing the table.
    pub(crate) next_names: Vec<String>,
    pub(crate) is_final: bool,
}

impl Strategy {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the name, followed by the aliases.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        std::iter::once(self.name()).chain(self.0.aliases.iter().map(String::as_str))
    }

    /// Returns the description.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Returns the stage in which a session starts.
    pub fn start(&self) -> &Stage {
        self.at(self.0.start)
    }

    /// Returns the stages in the order of the table.
    pub fn stages(&self) -> &[Stage] {
        &self.0.stages
    }

    /// Returns the stage with this name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.0.by_name.get(name).map(|index| self.at(*index))
    }

    /// Returns the stages that may follow `stage`, in the order of the table.
    pub fn next<'a>(&'a self, stage: &'a Stage) -> impl Iterator<Item = &'a Stage> {
        stage.next.iter().map(|index| self.at(*index))
    }

    #[expect(
        clippy::indexing_slicing,
        reason = "indices come from reading this table, which never changes"
    )]
    pub(crate) fn at(&self, index: usize) -> &Stage {
        &self.0.stages[index]
    }
}

/// Compares the contents. The order of stages is ignored, since some formats don't preserve it.
impl PartialEq for Strategy {
    fn eq(&self, other: &Self) -> bool {
        let a = &*self.0;
        let b = &*other.0;
        Arc::ptr_eq(&self.0, &other.0)
            || (a.name == b.name
                && a.aliases == b.aliases
                && a.description == b.description
                && self.start().name == other.start().name
                && a.stages.len() == b.stages.len()
                && a.stages
                    .iter()
                    .all(|stage| other.stage(&stage.name).is_some_and(|same| same == stage)))
    }
}

impl fmt::Debug for Strategy {
    /// Writes the name only: a table has hundreds of lines, and every thought of a session shares
    /// it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Strategy").field(&self.name()).finish()
    }
}

impl Stage {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the description.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// Returns the prompt for the model.
    pub fn prompt(&self) -> &str {
        &self.prompt
    }

    /// Returns the parameters of a thought in this stage by name.
    pub fn parameters(&self) -> &BTreeMap<String, Parameter> {
        &self.parameters
    }

    /// Returns the names of the stages that may follow.
    pub fn next_names(&self) -> &[String] {
        &self.next_names
    }

    /// Returns whether the strategy ends here.
    pub fn is_final(&self) -> bool {
        self.is_final
    }
}

/// Compares the contents.
impl PartialEq for Stage {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
            && self.description == other.description
            && self.prompt == other.prompt
            && self.parameters == other.parameters
            && self.next_names == other.next_names
            && self.is_final == other.is_final
    }
}

/// Serialises the strategy in the form of a table. The start is always included, since some formats
/// don't preserve the order of stages.
impl Serialize for Strategy {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if !self.0.aliases.is_empty() {
            map.serialize_entry("aliases", &self.0.aliases)?;
        }

        map.serialize_entry("description", &self.0.description)?;
        map.serialize_entry("start", self.start().name())?;
        map.serialize_entry("stages", &Stages(&self.0.stages))?;

        map.end()
    }
}

struct Stages<'a>(&'a [Stage]);

impl Serialize for Stages<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|stage| (stage.name(), stage)))
    }
}

impl Serialize for Stage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("description", &self.description)?;
        map.serialize_entry("prompt", &self.prompt)?;

        if !self.parameters.is_empty() {
            map.serialize_entry("parameters", &self.parameters)?;
        }

        if self.is_final {
            map.serialize_entry("final", &true)?;
        } else {
            map.serialize_entry("next", &self.next_names)?;
        }

        map.end()
    }
}
