//! Which rules a session follows, so that a changed strategy is noticed.

use std::hash::Hasher;

use cogwork_strategies::{Parameter, ParameterType, Stage, Strategies, Strategy};
use cogwork_text::Name;
use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

/// A strategy and a hash of its rules: stages, moves and parameters, without descriptions and
/// prompts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ruled {
    name: String,
    rules: String,
}

impl Ruled {
    pub(crate) fn of(strategy: &Strategy) -> Self {
        Self {
            name: strategy.name().to_owned(),
            rules: hash(&rules(strategy)),
        }
    }

    /// Returns the strategy if it is known and has the same rules.
    pub(crate) fn find(&self, strategies: &Strategies) -> Result<Strategy, String> {
        let strategy = strategies.get(&self.name);
        let strategy = strategy.map_err(|error| error.to_string())?;
        if Self::of(strategy) == *self {
            return Ok(strategy.clone());
        }

        let name = Name(&self.name);
        Err(format!(
            "the rules of the strategy `{name}` have changed since the session began; restore its \
             table, or begin another session"
        ))
    }
}

/// Returns the hash of a text, which is the same in all versions and on all machines.
fn hash(text: &str) -> String {
    let mut hasher = SipHasher13::new();
    hasher.write(text.as_bytes());
    format!("{:016x}", hasher.finish())
}

fn rules(strategy: &Strategy) -> String {
    let mut stages: Vec<String> = strategy.stages().iter().map(stage).collect();
    stages.sort_unstable();
    format!("{:?} {stages:?}", strategy.start().name())
}

fn stage(stage: &Stage) -> String {
    let mut next = stage.next_names().to_vec();
    next.sort_unstable();
    let parameters = stage.parameters().iter().map(parameter);
    let parameters: Vec<String> = parameters.collect();
    format!("{:?} {next:?} {parameters:?}", stage.name())
}

fn parameter((name, parameter): (&String, &Parameter)) -> String {
    let is_required = parameter.is_required();
    format!("{name:?} {is_required} {}", kind(parameter.kind()))
}

fn kind(of: &ParameterType) -> String {
    let name = of.name();
    match of {
        ParameterType::Text { choices } => format!("{name} {choices:?}"),
        ParameterType::Integer { min, max } | ParameterType::Number { min, max } => {
            format!("{name} {min:?} {max:?}")
        }
        ParameterType::List { items, min_items } => format!("{name} {min_items} {}", kind(items)),
        ParameterType::Object { fields } => {
            let fields: Vec<String> = fields.iter().map(parameter).collect();
            format!("{name} {fields:?}")
        }
        ParameterType::Map { values } => format!("{name} {}", kind(values)),
        _ => name.to_owned(),
    }
}
