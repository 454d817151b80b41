use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;

use super::PROMPT;
use crate::settings::SettingProblem;
use crate::{Agent, Made, Making, NodeType};

/// The settings of an agent, beside those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
    /// Who the agent is and what it does: the system text. Default: none.
    role: Option<String>,
    /// What it is asked, with slots: {input}, {last}, and the id of any node. Default: {last}, what was said last.
    prompt: Option<String>,
    /// The actions it chooses from, by a line `ACTION: <label>` at the end of its reply. Default: none; it leaves by `default`.
    #[serde(default)]
    #[schemars(length(max = 50), schema_with = "labels")]
    actions: Vec<String>,
    /// The tools it may call. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "tools")]
    tools: Vec<String>,
    /// How often in a visit it may call tools before it has to answer. Default: 8.
    #[schemars(range(min = 1, max = 100))]
    tool_rounds: Option<u32>,
}

/// Labels stand in drawings, so none is taken from the environment.
fn labels(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "items": {"type": "string", "minLength": 1, "maxLength": 100, "x-environment": false}
    })
}

fn tools(_: &mut SchemaGenerator) -> Schema {
    json_schema!({"$ref": "#/$defs/tools"})
}

pub(super) fn node_type() -> NodeType {
    NodeType::new("agent", "A model with a role, which may call tools and choose an action.", make)
        .with_client()
}

fn make(settings: Settings, making: &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>> {
    let mut agent = Agent::new(making.id(), making.client()?).with_request(making.request());
    let mut problems = Vec::new();
    if let Some(role) = settings.role {
        agent = agent.with_role(role);
    }
    if let Some(prompt) = settings.prompt {
        match making.template(PROMPT, &prompt) {
            Ok(prompt) => agent = agent.with_prompt(prompt),
            Err(problem) => problems.push(problem),
        }
    }
    match making.tools("tools", &settings.tools) {
        Ok(tools) => agent = agent.with_tools(tools),
        Err(more) => problems.extend(more),
    }
    if let Some(rounds) = settings.tool_rounds {
        agent = agent.with_tool_rounds(rounds);
    }
    let labels = settings.actions;
    for (place, label) in labels.iter().enumerate() {
        if labels.iter().take(place).any(|other| other == label) {
            let message = format!("the action `{label}` is there already; expected each once");
            problems.push(SettingProblem::new(message).at(format!("actions[{place}]")));
        } else if label.trim() != label || label.contains(['\n', '\r']) {
            let message =
                "a label begins or ends with a space, or has more than one line; expected one without";
            problems.push(SettingProblem::new(message).at(format!("actions[{place}]")));
        }
    }
    if !labels.is_empty() {
        agent = agent.with_actions(labels);
    }
    if problems.is_empty() { Ok(Made::node(agent)) } else { Err(problems) }
}
