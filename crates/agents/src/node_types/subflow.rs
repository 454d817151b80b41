//! Flows inside a node: one flow, one for each of several items, and nodes side by side.

use cogwork_flow::{Action, Branches, Each, Flow, FlowBuilder};
use cogwork_text::Name;
use cogwork_typed::AnswerReader;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value as Json;

use super::inside::{Inside, NoAnswer, filled};
use crate::load::{Assembled, Graph, SideBySide};
use crate::schema::nodes_setting;
use crate::{FlowState, Made, Making, Output, Template};

/// A flow: from a file, or described here.
#[derive(Deserialize, JsonSchema)]
struct Described {
    /// The file of the flow, in the folder of this file or below.
    #[schemars(extend("x-environment" = false))]
    file: Option<String>,
    #[serde(flatten)]
    graph: Graph,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct Subflow {
    /// The input of the flow, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    #[serde(flatten)]
    flow: Described,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(extend("additionalProperties" = false))]
pub(super) struct Map {
    /// The items, with slots: a list in JSON, or a list as models write it. Each item is the input of a run of the flow. Default: {last}, the last output.
    items: Option<String>,
    /// The maximum number of items at the same time. Default: 4.
    #[schemars(range(min = 1, max = 100))]
    at_once: Option<usize>,
    #[serde(flatten)]
    flow: Described,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BranchSettings {
    /// The input of each node, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// The nodes, which run at the same time.
    #[schemars(schema_with = "nodes_setting")]
    #[expect(dead_code, reason = "read with its place")]
    nodes: Json,
    /// The answer, with slots for the nodes inside. Default: a JSON object with the output of each node.
    answer: Option<String>,
}

impl Described {
    /// Returns the flow, or reports its problems and returns `None`.
    fn flow(self, making: &mut Making<'_, '_>) -> Option<Assembled> {
        let graph = self.graph;
        // They would be ignored, since the file has its own.
        let has_rest = !graph.edges.is_empty() || graph.answer.is_some() || graph.start.is_some();

        match (self.file, graph.nodes) {
            (Some(_), None) if has_rest => {
                let message = "`edges`, `start` and `answer` belong to a flow that is described here; move them to the file";
                making.refuse("", message)
            }
            (Some(file), None) => making.flow_of_file(&file),
            (None, Some(_)) => making.loading.flow(making.config, making.path),
            _ => making.refuse("", "expected either `file` or `nodes`"),
        }
    }
}

pub(super) fn subflow(settings: Subflow, making: &mut Making<'_, '_>) -> Option<Made> {
    let prompt = making.prompt(settings.prompt);
    let Assembled { flow, answer } = settings.flow.flow(making)?;

    inside(making, prompt, flow, Action::clone, move |inside| {
        filled(&answer, "answer", inside)
    })
}

/// Returns a node with a flow over an inner state. `say` returns the output of the node.
fn inside(
    making: &mut Making<'_, '_>,
    prompt: Template,
    flow: Flow<FlowState>,
    leave: fn(&Action) -> Action,
    say: impl Fn(&FlowState) -> Result<Output, NoAnswer> + Clone + Send + Sync + 'static,
) -> Option<Made> {
    let inside = Inside {
        prompt,
        flow,
        leave,
    };

    inside.made(
        making,
        |state, id, input| {
            let inside = FlowState::with_input(input);
            state.inside.insert(id.to_owned(), inside);
        },
        part,
        move |state, id| {
            let inside = part(state, id);
            let output = say(inside)?;
            Ok(inside.visit_around(id, output))
        },
    )
}

/// Like [`inside`], for a flow of one place, whose node leaves by the default action.
fn inside_of_one(
    making: &mut Making<'_, '_>,
    prompt: Template,
    flow: FlowBuilder<FlowState>,
    say: impl Fn(&FlowState) -> Result<Output, NoAnswer> + Clone + Send + Sync + 'static,
) -> Option<Made> {
    let flow = making.built(flow)?;
    inside(making, prompt, flow, |_| Action::DEFAULT, say)
}

fn part<'s>(state: &'s mut FlowState, id: &str) -> &'s mut FlowState {
    state.inside.entry(id.to_owned()).or_default()
}

/// The maximum number of items of a list.
const MAX_ITEMS: usize = 1_000;

pub(super) fn map(settings: Map, making: &mut Making<'_, '_>) -> Option<Made> {
    let items = match settings.items {
        Some(text) => making.template("items", &text),
        None => Template::default(),
    };
    let Assembled { flow, answer } = settings.flow.flow(making)?;
    if !flow.graph().events().is_empty() {
        making.needs_journal();
    }

    let each = Each::at_most(
        settings.at_once.unwrap_or(4),
        flow,
        |state: &FlowState| {
            let items = items_of(&state.input().text)?.into_iter();
            Ok(items.map(FlowState::new).collect::<Vec<_>>())
        },
        move |state: &mut FlowState, parts: Vec<FlowState>| {
            for (index, part) in parts.into_iter().enumerate() {
                let output = filled(&answer, "answer", &part)?;
                state.put_visit(part.visit_around(&number(index), output));
            }
            Ok(())
        },
    );

    let flow = Flow::builder("map").each("item", each).chain(["item"]);
    inside_of_one(making, items, flow, |inside| {
        // By number, because the order of texts would put 10 before 2.
        let numbers = (0..inside.outputs().len()).map(number);
        let outputs = numbers.filter_map(|number| inside.output(&number));
        let list: Json = outputs.map(json_of).collect();
        Ok(Output::new(list.to_string()))
    })
}

/// Returns the number of an item, from 1.
fn number(index: usize) -> String {
    (index + 1).to_string()
}

/// Returns the items of a list in JSON, or of one that a model wrote. Items that aren't texts stay
/// JSON.
fn items_of(text: &str) -> Result<Vec<String>, NoAnswer> {
    // Outputs of other nodes are JSON; models answer with lists of any form.
    let items = match serde_json::from_str::<Vec<Json>>(text) {
        Ok(items) => items.into_iter().map(text_of).collect(),
        Err(_) => {
            let read = AnswerReader::<Vec<String>>::new().with_prose().read(text);
            let read = read.map_err(|_| {
                let text = Name(text.trim());
                NoAnswer(format!(
                    "`items` is `{text}`; expected a list in JSON, or lines that begin with `-` or a number"
                ))
            });
            read?.value
        }
    };

    if items.len() > MAX_ITEMS {
        let message = format!(
            "`items` has {} items; expected at most {MAX_ITEMS}",
            items.len()
        );
        return Err(NoAnswer(message));
    }
    Ok(items)
}

fn text_of(value: Json) -> String {
    match value {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// Returns an output as JSON: an object or a list as it is, and anything else as a text.
fn json_of(output: &Output) -> Json {
    let value = serde_json::from_str::<Json>(&output.text).ok();
    // A text such as `7` or `null` stays what the model wrote.
    let value = value.filter(|value| value.is_object() || value.is_array());
    value.unwrap_or_else(|| output.text.clone().into())
}

pub(super) fn side_by_side(settings: BranchSettings, making: &mut Making<'_, '_>) -> Option<Made> {
    let prompt = making.prompt(settings.prompt);
    let SideBySide { flows, answer } = making.loading.flows(making.config, making.path)?;
    // Without one, the template is `{last}`, and which branch was last is left to chance.
    let answer = settings.answer.is_some().then_some(answer);
    if flows
        .iter()
        .any(|(_, flow)| !flow.graph().events().is_empty())
    {
        making.needs_journal();
    }

    let branches = flows
        .into_iter()
        .fold(Branches::new(), |branches, (id, flow)| {
            let begin = |state: &FlowState| FlowState::with_input(state.input().clone());
            branches.branch(id, flow, begin, FlowState::absorb)
        });

    let flow = Flow::builder("branches").branches("run", branches);
    inside_of_one(making, prompt, flow.chain(["run"]), move |inside| {
        if let Some(answer) = &answer {
            return filled(answer, "answer", inside);
        }

        let outputs = inside.outputs().iter();
        let object: Json = outputs
            .map(|(id, output)| (id.clone(), json_of(output)))
            .collect();
        Ok(Output::new(object.to_string()))
    })
}
