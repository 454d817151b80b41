//! Steps without a model: a filled template, and a call of a tool.

use std::collections::BTreeMap;

use cogwork_flow::{Action, Node, from_fn};
use cogwork_llm::{ChatResponse, ToolCall};
use cogwork_text::{Name, NameList};
use cogwork_thinking::SettingProblem;
use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, ToolCalls, ToolUse};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::inside::{NoAnswer, filled};
use super::labels::{self, labels};
use crate::choice::Choice;
use crate::names::{did_you_mean, list, nearest};
use crate::schema::{keys_of, required_keys, tool_setting};
use crate::{FlowState, Made, Making, Output, Template};

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct TextSettings {
    /// The text, with slots: {input}, {last}, and the id of any node.
    text: String,
    /// The actions of which the text names one. Default: none; it leaves by `default`.
    #[serde(default)]
    #[schemars(length(max = 50), schema_with = "labels")]
    actions: Vec<String>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ToolSettings {
    /// The name of the tool.
    #[schemars(schema_with = "tool_setting")]
    tool: String,
    /// The arguments. Texts have slots: {input}, {last}, and the id of any node. Default: none.
    #[serde(default)]
    arguments: BTreeMap<String, Json>,
    /// Whether the call needs a person's approval. The run needs a journal. Default: false.
    #[serde(default)]
    approve: bool,
}

pub(super) fn template(settings: TextSettings, making: &mut Making<'_, '_>) -> Option<Made> {
    let text = making.template("text", &settings.text);
    let choice = labels::checked(making, settings.actions, &[]);

    let id = making.id().to_owned();
    let declared = choice.actions();
    let node = from_fn(move |state: &mut FlowState| {
        let output = filled(&text, "text", state)?;
        let action = action_of(&output.text, &choice)?;
        state.put(&id, output);
        Ok(action)
    });
    Some(Made::node(node.with_actions(&declared)))
}

fn action_of(text: &str, choice: &Choice) -> Result<Action, NoAnswer> {
    if !choice.is_open() {
        return Ok(Action::DEFAULT);
    }

    choice.named(text).cloned().ok_or_else(|| {
        let known = NameList::or(choice.0.iter().map(Action::as_str));
        let text = Name(text.trim());
        NoAnswer(format!("`{text}` names no action; expected {known}"))
    })
}

pub(super) fn tool(settings: ToolSettings, making: &mut Making<'_, '_>) -> Option<Made> {
    let names = [settings.tool];
    let tools = making.tools("tool", &names);
    let [tool] = names;
    check_names(&tools, &settings.arguments, making);

    let arguments = settings.arguments.into_iter().map(|(name, value)| {
        let argument = match value {
            Json::String(text) => {
                Argument::Text(making.template(&format!("arguments.{name}"), &text))
            }
            other => Argument::Json(other),
        };
        (name, argument)
    });
    let arguments = arguments.collect();

    Some(Made::node(ToolStep {
        id: making.id().to_owned(),
        tools: match settings.approve {
            // A tool that doesn't exist has been reported.
            true => tools.with_approval([tool.as_str()]).ok()?,
            false => tools,
        },
        tool,
        arguments,
    }))
}

/// Reports arguments that the tool doesn't have, which most tools ignore, and those that it needs. The
/// values are only known when the slots are filled.
fn check_names(tools: &Tools, arguments: &BTreeMap<String, Json>, making: &mut Making<'_, '_>) {
    let schema = tools.definitions().next();
    let schema = schema.and_then(|tool| serde_json::from_str::<Json>(tool.input_schema()).ok());
    let schema = schema.unwrap_or_default();
    for missing in required_keys(&schema).filter(|key| !arguments.contains_key(*key)) {
        let message = format!(
            "the tool needs the argument `{}`; expected it here",
            Name(missing)
        );
        making.report(SettingProblem::new(message).at("arguments"));
    }

    let Some(known) = keys_of(&schema) else {
        return;
    };
    for name in arguments
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
    {
        let meant = did_you_mean(nearest(name, known.iter().copied()));
        let message = format!(
            "the tool has no such argument; expected {}{meant}",
            list(&known)
        );
        making.report(SettingProblem::new(message).at(format!("arguments.{name}")));
    }
}

/// A call of a tool as a node.
struct ToolStep {
    id: String,
    tools: Tools,
    tool: String,
    arguments: BTreeMap<String, Argument>,
}

enum Argument {
    Text(Template),
    Json(Json),
}

impl Node<FlowState> for ToolStep {
    type Prep = ToolCall;
    type Exec = ToolUse;
    type Error = NoAnswer;

    fn is_composite(&self) -> bool {
        true
    }

    fn prep(&self, state: &mut FlowState) -> Result<ToolCall, NoAnswer> {
        // Without this, a call would fail with the message that is meant for a model.
        self.tools
            .ready()
            .map_err(|error| NoAnswer(error.to_string()))?;

        let mut arguments = Map::new();
        for (name, argument) in &self.arguments {
            let value = match argument {
                Argument::Text(template) => filled(template, name, state)?.text.into(),
                Argument::Json(value) => value.clone(),
            };
            arguments.insert(name.clone(), value);
        }

        // A call as a model makes it, so that it is approved, recorded and reported in the same way.
        let arguments = Json::Object(arguments).to_string();
        Ok(ToolCall::new("call_1", self.tool.as_str(), arguments))
    }

    async fn exec(&self, call: &ToolCall) -> Result<ToolUse, NoAnswer> {
        let calls = ToolCalls::new(&self.tools, "the flow");
        let requested = ChatResponse::default().with_tool_calls([call.clone()]);
        let made = calls.make(&requested, 1, &Meter::default()).await;

        let made = made.map_err(|error| NoAnswer(error.to_string()))?;
        match made.into_iter().next() {
            Some(used) if !used.failed => Ok(used),
            failed => Err(NoAnswer(failed.map(|used| used.result).unwrap_or_default())),
        }
    }

    fn post(&self, state: &mut FlowState, _: ToolCall, used: ToolUse) -> Result<Action, NoAnswer> {
        let mut output = Output::new(used.result.as_str());
        output.tools = vec![used];
        state.put(&self.id, output);
        Ok(Action::DEFAULT)
    }
}
