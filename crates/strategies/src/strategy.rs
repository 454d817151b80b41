use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use indexmap::IndexMap;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::table::{Parameter, named};

/// A strategy: its stages, and which of them may follow which. Cloning shares the table.
///
/// A strategy is always valid: every stage can be reached from the start and leads to a final one.
/// It is obtained from a [`StrategyName`](crate::StrategyName) or from
/// [`Strategies`](crate::Strategies). What serde has written is read without these checks.
///
/// ```
/// use cogwork_strategies::StrategyName;
///
/// let strategy = StrategyName::React.strategy();
/// let checkpoint = strategy.stage("evaluation_checkpoint").ok_or("no such stage")?;
/// let next: Vec<_> = strategy.next(checkpoint).map(|stage| &stage.name).collect();
/// assert_eq!(next, ["action_planning", "solution_formulation"]);
///
/// let needs = strategy.stage("observation_reception").ok_or("no such stage")?.parameters.clone();
/// assert!(!needs["observation"].is_optional);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Strategy(#[serde(deserialize_with = "with_start")] pub(crate) Arc<Table>);

/// Reads a table as it was written, which [`Strategy::start`] relies on.
fn with_start<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Arc<Table>, D::Error> {
    let table = Arc::<Table>::deserialize(deserializer)?;
    match table.stages.iter().any(|stage| stage.name == table.start) {
        true => Ok(table),
        false => Err(D::Error::custom("`start` is not a stage of the strategy")),
    }
}

#[derive(PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `description` and `stages`"
)]
pub(crate) struct Table {
    #[serde(default)]
    pub(crate) name: String,
    pub(crate) description: String,
    /// The name of the start stage. It is always written, since some formats don't preserve the
    /// order of stages.
    #[serde(default)]
    pub(crate) start: String,
    #[serde(default, serialize_with = "by_name", deserialize_with = "in_order")]
    pub(crate) stages: Vec<Stage>,
}

/// A stage of a strategy.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with `description` and `prompt`"
)]
#[non_exhaustive]
pub struct Stage {
    /// The name.
    #[serde(skip)]
    pub name: String,
    /// The purpose of the stage.
    pub description: String,
    /// The question for the model.
    pub prompt: String,
    /// The parameters of a thought in this stage by name.
    #[serde(
        default,
        skip_serializing_if = "BTreeMap::is_empty",
        deserialize_with = "named"
    )]
    pub parameters: BTreeMap<String, Parameter>,
    /// The names of the stages that may follow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub next: Vec<String>,
    /// Whether the strategy ends here.
    #[serde(default, rename = "final", skip_serializing_if = "std::ops::Not::not")]
    pub is_final: bool,
}

impl Strategy {
    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Returns the description.
    pub fn description(&self) -> &str {
        &self.0.description
    }

    /// Returns the stage in which a session starts.
    #[expect(
        clippy::expect_used,
        reason = "reading a table checks it, and it never changes"
    )]
    pub fn start(&self) -> &Stage {
        self.stage(&self.0.start).expect("the start is a stage")
    }

    /// Returns the stages in the order of the table.
    pub fn stages(&self) -> &[Stage] {
        &self.0.stages
    }

    /// Returns the stage with this name.
    pub fn stage(&self, name: &str) -> Option<&Stage> {
        self.0.stages.iter().find(|stage| stage.name == name)
    }

    /// Returns the stages that may follow `stage`, in the order of the table.
    pub fn next<'a>(&'a self, stage: &'a Stage) -> impl Iterator<Item = &'a Stage> {
        stage.next.iter().filter_map(|next| self.stage(next))
    }
}

impl fmt::Debug for Strategy {
    /// Writes the name only: a table has hundreds of lines, and every thought of a session shares
    /// it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Strategy").field(&self.name()).finish()
    }
}

fn by_name<S: Serializer>(stages: &[Stage], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(stages.iter().map(|stage| (&stage.name, stage)))
}

fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Stage>, D::Error> {
    let stages = IndexMap::<String, Stage>::deserialize(deserializer)?;
    let named = stages
        .into_iter()
        .map(|(name, stage)| Stage { name, ..stage });
    Ok(named.collect())
}
