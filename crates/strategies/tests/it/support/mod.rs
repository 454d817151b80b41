//! Functions that the tests share.

#[path = "../../../../text/tests/support/growth.rs"]
mod growth;
pub(crate) use growth::assert_grows_linearly;

use std::collections::BTreeMap;

use cogwork_strategies::session::{Session, ThoughtDraft, ThoughtId};
use cogwork_strategies::{Stage, Strategies, Strategy};
use serde_json::{Value, json};

/// Returns the strategy with these lines as its stages.
pub(crate) fn strategy(name: &str, stages: &str) -> Strategy {
    let lines = stages.lines().map(|line| format!("    {}\n", line.trim()));
    let lines: String = lines.collect();
    let table = format!("{name}:\n  description: d\n  stages:\n{lines}");

    let strategies = Strategies::from_yaml(&table).unwrap();
    strategies.get(name).unwrap().clone()
}

/// Returns a valid value.
pub(crate) fn fitting(schema: &Value) -> Value {
    match schema["type"].as_str() {
        Some("integer" | "number") => schema.get("minimum").cloned().unwrap_or(json!(1)),
        Some("boolean") => json!(true),
        Some("thought") => json!(1),
        Some("array") => json!([fitting(&schema["items"])]),
        Some("object") if schema.get("properties").is_none() => {
            json!({"name": fitting(&schema["additionalProperties"])})
        }
        Some("object") => {
            let fields = schema["properties"].as_object().into_iter().flatten();
            fields
                .map(|(name, field)| (name.clone(), fitting(field)))
                .collect()
        }
        _ => json!("some text"),
    }
}

/// Returns valid values of all required parameters.
pub(crate) fn needed(stage: &Stage) -> BTreeMap<String, Value> {
    let parameters = stage.parameters.iter();
    let required = parameters.filter(|(_, parameter)| !parameter.is_optional);
    required
        .map(|(name, parameter)| (name.clone(), fitting(&parameter.schema)))
        .collect()
}

/// A thought in a stage, with all that it requires.
pub(crate) fn draft(stage: &Stage, text: &str) -> ThoughtDraft {
    let mut draft = ThoughtDraft::at(&stage.name, text);
    draft.parameters = needed(stage);
    draft
}

/// Thoughts on the current branch, each in one of these stages.
pub(crate) fn walk(session: &mut Session, stages: &[&str]) -> Vec<ThoughtId> {
    let think = |name: &&str| {
        let leading: Vec<Stage> = session
            .allowed(session.current())
            .unwrap()
            .into_iter()
            .cloned()
            .collect();

        let start = session
            .thoughts()
            .is_empty()
            .then(|| session.strategy().start().clone());
        let stage = leading
            .into_iter()
            .chain(start)
            .find(|stage| stage.name == *name)
            .unwrap();

        session.think(draft(&stage, name)).unwrap()
    };
    stages.iter().map(think).collect()
}

/// A line for each thought: number, branch and number on it, stage, text, parents where it merged.
pub(crate) fn told(session: &Session) -> String {
    let line = |thought: &cogwork_strategies::session::Thought| {
        let branch = session.branch(thought.branch).unwrap();
        let number = branch.thoughts.iter().position(|id| *id == thought.id);
        let number = number.unwrap() + 1;
        let (id, name, stage) = (thought.id, &branch.name, &thought.stage);
        let mut line = format!("{id} {name}#{number} {stage}");

        if let Some(revised) = thought.revises {
            line += &format!(" revises {revised}");
        }

        if thought.merged.is_some() {
            let parents: Vec<String> = thought.parents().map(|parent| parent.to_string()).collect();
            line += &format!(" merges {}", parents.join(" and "));
        }

        line + ": " + &thought.text
    };
    session
        .thoughts()
        .iter()
        .map(line)
        .collect::<Vec<_>>()
        .join("\n")
}
