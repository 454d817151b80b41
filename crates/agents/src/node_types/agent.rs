use cogwork_text::{Name, NameList, check_schema};
use cogwork_thinking::SettingProblem;
use cogwork_typed::ask::Limits;
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::labels::{self, labels};
use crate::memory::MemorySettings;
use crate::schema::{thinking_setting, tools_setting};
use crate::{Agent, Made, Making};

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
    /// The limits of a visit, with its tools and thinking modes; a visit that reaches one fails. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "visit_limits")]
    limits: Limits,
}

/// Those limits that an agent has: it makes no thoughts, and isn't asked to conclude.
fn visit_limits(generator: &mut SchemaGenerator) -> Schema {
    let mut limits = Limits::json_schema(generator);
    if let Some(Json::Object(known)) = limits.get_mut("properties") {
        known.retain(|name, _| ["calls", "tokens", "bytes", "time"].contains(&name.as_str()));
    }
    limits
}

/// The value that an agent answers with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct OutputSettings {
    /// The JSON Schema of the value.
    schema: Map<String, Json>,
}

pub(super) fn make(settings: Settings, making: &mut Making<'_, '_>) -> Option<Made> {
    let Settings { tools, approve, .. } = settings;
    let choice = labels::checked(making, settings.actions, &[]);
    // A misspelt name would let the tool be called without approval.
    for (place, name) in approve.iter().enumerate() {
        if !tools.contains(name) {
            let problem = SettingProblem::new(not_a_tool(name, &tools));
            making.report(problem.at(format!("approve[{place}]")));
        }
    }

    if !approve.is_empty() {
        making.needs_journal();
    }
    let mut agent = Agent::new(making.id(), making.client.clone())
        .with_request(making.request.clone())
        .with_prompt(making.prompt(settings.prompt))
        .with_tool_rounds(settings.tool_rounds.unwrap_or(8))
        .with_asks_again(settings.asks_again.unwrap_or(2))
        .with_limits(settings.limits);
    // A name that isn't listed was reported above, with its place.
    if let Ok(tools) = making.tools("tools", &tools).with_approval(&approve) {
        agent = agent.with_tools(tools);
    }
    if let Some(role) = settings.role {
        agent = agent.with_role(role);
    }
    if let Some(thinking) = settings.thinking {
        let modes = making.modes("thinking", &thinking).into_iter();
        agent = modes.fold(agent, Agent::with_mode);
    }
    let memory = settings.memory;
    // A problem of the memory is reported, and doesn't hide those that follow.
    if let Some(recall) = memory.and_then(|memory| memory.recall(making)) {
        agent = agent.with_memory(recall);
    }

    match settings.output {
        Some(_) if choice.is_open() => {
            let message = "a value names no action; remove `output` or `actions`";
            making.refuse("output", message)
        }
        Some(OutputSettings { schema }) => {
            let schema = Json::Object(schema);
            // Any value would be accepted by a schema that means nothing.
            if let Err(problem) = check_schema(&schema) {
                return making.refuse("output.schema", format!("not a JSON Schema: {problem}"));
            }
            Some(Made::node(agent.with_output(&schema)))
        }
        None => Some(Made::node(agent.with_actions(choice.0))),
    }
}

fn not_a_tool(name: &str, tools: &[String]) -> String {
    let name = Name(name);
    let tools = NameList::or(tools);
    format!("`{name}` is not one of the agent's tools; expected {tools}")
}
