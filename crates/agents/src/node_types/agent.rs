use cogwork_text::{Name, NameList};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::labels::{self, labels};
use crate::memory::MemorySettings;
use crate::schema::{thinking_setting, tools_setting};
use crate::{Agent, Made, Making};
use cogwork_thinking::SettingProblem;

/// The settings of an agent, in addition to those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// The role of the agent: the system text. Default: none.
    #[schemars(extend("x-also" = ["system", "system_prompt", "instructions"]))]
    role: Option<String>,
    /// The prompt, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// The actions to choose from, by a line `ACTION: <label>` at the end of the reply. Default: none; it leaves by `default`.
    #[serde(default)]
    #[schemars(length(max = 50), schema_with = "labels")]
    actions: Vec<String>,
    /// The value that the agent answers with, as JSON, instead of a text. Default: none.
    #[schemars(extend("x-also" = ["output_type", "response_format", "output_schema"]))]
    output: Option<OutputSettings>,
    /// The tools that the model may call. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "tools_setting")]
    tools: Vec<String>,
    /// Those of its tools whose calls need a person's approval. The run needs a journal. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "tools_setting")]
    approve: Vec<String>,
    /// The thinking modes of a visit. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "thinking_setting")]
    thinking: Option<Json>,
    /// The memory, which is searched once per visit. Default: none.
    memory: Option<MemorySettings>,
    /// The maximum number of rounds of tool calls in a visit. Default: 8.
    #[schemars(range(min = 1, max = 100))]
    tool_rounds: Option<u32>,
    /// How often the model is asked again when a reply is empty or names no action. Default: 2.
    asks_again: Option<u32>,
}

/// The value that an agent answers with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputSettings {
    /// The JSON Schema of the value.
    schema: Map<String, Json>,
}

pub(super) fn make(
    settings: Settings,
    making: &mut Making<'_, '_>,
) -> Result<Made, Vec<SettingProblem>> {
    let mut agent = Agent::new(making.id(), making.client()).with_request(making.request());
    let mut problems = Vec::new();
    if let Some(role) = settings.role {
        agent = agent.with_role(role);
    }

    match making.prompt(settings.prompt) {
        Ok(prompt) => agent = agent.with_prompt(prompt),
        Err(problem) => problems.push(problem),
    }

    match making.tools("tools", &settings.tools) {
        Ok(tools) => agent = agent.with_tools(tools.with_approval(&settings.approve)),
        Err(problem) => problems.push(problem),
    }

    let listed = |name: &String| settings.tools.contains(name);
    for (place, name) in settings.approve.iter().enumerate() {
        if !listed(name) {
            problems.push(not_a_tool(name, &settings.tools).at(format!("approve[{place}]")));
        }
    }

    if let Some(thinking) = settings.thinking {
        match making.modes("thinking", &thinking) {
            Ok(modes) => agent = modes.into_iter().fold(agent, Agent::with_mode),
            Err(more) => problems.extend(more),
        }
    }

    if let Some(memory) = settings.memory {
        match memory.recall(making) {
            Ok(recall) => agent = agent.with_memory(recall),
            Err(problem) => problems.push(problem.below("memory")),
        }
    }

    if let Some(rounds) = settings.tool_rounds {
        agent = agent.with_tool_rounds(rounds);
    }

    if let Some(times) = settings.asks_again {
        agent = agent.with_asks_again(times);
    }

    let labels = settings.actions;
    problems.extend(labels::problems(&labels, &[]));
    if settings.output.is_some() && !labels.is_empty() {
        let message = "a value names no action; remove `output` or `actions`";
        problems.push(SettingProblem::new(message).at("output"));
    }

    match settings.output {
        _ if !problems.is_empty() => Err(problems),
        Some(OutputSettings { schema }) => {
            Ok(Made::node(agent.with_output_of(&Json::Object(schema))))
        }
        None if labels.is_empty() => Ok(Made::node(agent)),
        None => Ok(Made::node(agent.with_actions(labels))),
    }
}

fn not_a_tool(name: &str, tools: &[String]) -> SettingProblem {
    let name = Name(name);
    let tools = NameList::or(tools);
    SettingProblem::new(format!(
        "`{name}` is not one of the agent's tools; expected {tools}"
    ))
}
