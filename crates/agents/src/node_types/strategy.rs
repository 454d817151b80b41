use cogwork_flow::Action;
use cogwork_strategies::table::TableProblem;
use cogwork_strategies::{Call, EndReason, Method, Solver, Strategies, Strategy, StrategyName};
use cogwork_thinking::SettingProblem;
use cogwork_typed::ask::{Limits, Try};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value as Json;

use super::inside::{Inside, NoAnswer};
use crate::schema::tools_setting;
use crate::{Made, Making, Output, Visit};

/// The settings of a strategy, in addition to those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Settings {
    /// The name of the strategy. Either this or `table`.
    #[serde(default)]
    #[schemars(schema_with = "strategies")]
    strategy: Option<String>,
    /// A custom strategy: its start, and its stages with description, prompt, parameters and next stages.
    #[serde(default)]
    #[schemars(schema_with = "table")]
    table: Option<Json>,
    /// The problem, with slots: {input}, {last}, and the id of any node. Default: {last}, the last output.
    prompt: Option<String>,
    /// The limits of a problem. Default: 100 calls, 500000 tokens, 67108864 bytes, 500 thoughts on all branches, 900 seconds.
    #[serde(default)]
    budget: Limits,
    /// The tools that the model may use. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "tools_setting")]
    tools: Vec<String>,
}

fn strategies(_: &mut SchemaGenerator) -> Schema {
    let known = Strategies::built_in();
    let names: Vec<&str> = known.iter().map(Strategy::name).collect();
    json_schema!({"enum": names, "x-noun": "strategy"})
}

fn table(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "object",
        "properties": {
            "description": {"type": "string"},
            // Values from files are not in order, so the first stage is not necessarily the start.
            "start": {"type": "string"},
            "stages": {"type": "object"},
        },
        "required": ["description", "start", "stages"],
        "additionalProperties": false,
    })
}

pub(super) fn make(settings: Settings, making: &mut Making<'_, '_>) -> Option<Made> {
    let method: Box<dyn Method> = match (settings.strategy, settings.table) {
        (Some(name), None) => match name.parse::<StrategyName>() {
            Ok(StrategyName::Rewoo) if settings.tools.is_empty() => {
                return making.refuse("", "`rewoo` plans with tools; expected some in `tools`");
            }
            Ok(name) => name.into(),
            Err(error) => return making.refuse("strategy", error),
        },
        (None, Some(table)) => Box::new(own_strategy(table, making)?),
        _ => return making.refuse("", "expected either `strategy` or `table`"),
    };

    let prompt = making.prompt(settings.prompt);
    let solver = Solver::new(making.client.clone(), method)
        .with_request(making.request.clone())
        .with_tools(making.tools("tools", &settings.tools))
        .with_limits(settings.budget);
    let flow = match solver.clone().into_flow() {
        Ok(flow) => flow,
        Err(error) => return making.refuse("", error),
    };

    let unbegun = solver.clone();
    let inside = Inside {
        prompt,
        flow,
        leave: |_| Action::DEFAULT,
    };

    inside.made(
        making,
        move |state, id, prompt| {
            let solving = solver.begin(prompt.text);
            state.solvings.insert(id.to_owned(), solving);
        },
        move |state, id| {
            let part = state.solvings.entry(id.to_owned());
            part.or_insert_with(|| unbegun.begin(String::new()))
        },
        move |state, id| {
            let solving = state.solving(id);
            let solving = solving.ok_or_else(|| NoAnswer("no run has begun".to_owned()))?;
            // An answer at a limit is one, but isn't complete.
            let stopped = solving.end().filter(|end| **end != EndReason::Answered);
            let Some(answer) = solving.answer() else {
                let end = solving.end().map(ToString::to_string).unwrap_or_default();
                return Err(NoAnswer(format!("the strategy came to no answer: {end}")));
            };
            let mut visit = Visit::of(id);
            visit.spent = solving.spent();
            visit.tries = solving.calls().iter().flat_map(tries).collect();
            Ok(visit.with_output(Output {
                text: answer.to_owned(),
                cut_short: stopped.map(ToString::to_string),
                ..Output::default()
            }))
        },
    )
}

fn tries(call: &Call) -> Vec<Try> {
    match call {
        Call::Model(asked) => asked.log.tries.clone(),
        _ => Vec::new(),
    }
}

/// Reads the strategy from a table in the file.
fn own_strategy(table: Json, making: &mut Making<'_, '_>) -> Option<Strategy> {
    const NAME: &str = "own";
    // The reader of tables expects a map of strategies by name, and JSON is YAML.
    let text = Json::from_iter([(NAME, table)]).to_string();

    match Strategies::from_yaml(&text) {
        Ok(tables) => tables.get(NAME).cloned().ok(),
        Err(error) => {
            for TableProblem { place, message, .. } in error.problems() {
                let place = place.replacen(NAME, "table", 1);
                making.report(SettingProblem::new(message).at(place));
            }
            None
        }
    }
}
