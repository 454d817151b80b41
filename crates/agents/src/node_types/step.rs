//! Steps without a model: a filled template, and a call of a tool.

use std::collections::BTreeMap;

use cogwork_flow::{Action, Node, from_fn};
use cogwork_llm::{ChatResponse, ToolCall};
use cogwork_thinking::SettingProblem;
use cogwork_tools::Tools;
use cogwork_typed::ask::{Meter, ToolCalls, ToolUse};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value as Json};

use super::inside::{NoAnswer, filled};
use super::labels::{self, labels};
use crate::choice::Choice;
use crate::names::{Name, NameList, did_you_mean, nearest};
use crate::problems::{below, item};
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

pub(super) fn tool(mut settings: ToolSettings, making: &mut Making<'_, '_>) -> Option<Made> {
    let names = [settings.tool];
    let tools = making.tools("tool", &names);
    let [tool] = names;
    check_names(&tools, &settings.arguments, making);

    for (name, value) in &mut settings.arguments {
        for (path, text) in texts_of(value, format!("arguments.{name}")) {
            making.template(&path, text);
        }
    }

    if settings.approve {
        making.needs_journal();
    }
    Some(Made::node(ToolStep {
        id: making.id().to_owned(),
        tools: match settings.approve {
            // A tool that doesn't exist has been reported.
            true => tools.with_approval([tool.as_str()]).ok()?,
            false => tools,
        },
        tool,
        arguments: settings.arguments,
    }))
}

/// Reports arguments that the tool doesn't have, which most tools ignore, and those that it needs. The
/// values are only known when the slots are filled.
fn check_names(tools: &Tools, arguments: &BTreeMap<String, Json>, making: &mut Making<'_, '_>) {
    let schema = schema_of(tools);
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
            NameList::or(&known)
        );
        making.report(SettingProblem::new(message).at(format!("arguments.{name}")));
    }
}

/// Returns the schema of the arguments of the only tool.
fn schema_of(tools: &Tools) -> Json {
    let tool = tools.definitions().next();
    let schema = tool.and_then(|tool| serde_json::from_str(tool.input_schema()).ok());
    schema.unwrap_or_default()
}

/// A call of a tool as a node.
struct ToolStep {
    id: String,
    tools: Tools,
    tool: String,
    /// Their texts have slots.
    arguments: BTreeMap<String, Json>,
}

/// Returns the texts in a value, with their paths.
fn texts_of(value: &mut Json, path: String) -> Vec<(String, &mut String)> {
    match value {
        Json::String(text) => vec![(path, text)],
        Json::Array(items) => {
            let items = items.iter_mut().enumerate();
            let texts = items.flat_map(|(index, value)| texts_of(value, item(&path, index)));
            texts.collect()
        }
        Json::Object(entries) => {
            let entries = entries.iter_mut();
            let texts = entries.flat_map(|(key, value)| texts_of(value, below(&path, key)));
            texts.collect()
        }
        _ => Vec::new(),
    }
}

/// Returns an argument as the tool wants it: a slot may contain a number or a list.
fn as_wanted(schema: &Json, name: &str, argument: Json) -> Json {
    let property = schema.get("properties").and_then(|known| known.get(name));
    let wanted = property.and_then(|property| property.get("type"));
    match (wanted.and_then(Json::as_str), &argument) {
        (Some("string") | None, _) => argument,
        (Some(_), Json::String(text)) => serde_json::from_str(text).unwrap_or(argument),
        _ => argument,
    }
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

        let schema = schema_of(&self.tools);
        let mut arguments = Map::new();
        for (name, argument) in &self.arguments {
            let mut value = argument.clone();
            for (_, text) in texts_of(&mut value, String::new()) {
                // Its slots were checked when the file was loaded.
                let template = Template::new(text).map_err(|error| NoAnswer(error.to_string()))?;
                *text = filled(&template, name, state)?.text;
            }
            arguments.insert(name.clone(), as_wanted(&schema, name, value));
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
