use cogwork_flow::Action;
use cogwork_strategies::table::TableProblem;
use cogwork_strategies::{Call, EndReason, Method, Solver, Strategies, Strategy, StrategyName};
use cogwork_typed::ask::{Limits, Try};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Deserialize;
use serde_json::Value as Json;

use super::inside::{Inside, NoAnswer};
use super::tools;
use crate::settings::SettingProblem;
use crate::{Made, Making, NodeType, Output, Visit};

/// The settings of a strategy, in addition to those of its client.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Settings {
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
    /// What happens when the budget is spent, or there is no progress. Default: answer.
    #[serde(default)]
    when_stopped: WhenStopped,
    /// The tools that the model may use. Default: none.
    #[serde(default)]
    #[schemars(schema_with = "tools")]
    tools: Vec<String>,
}

#[derive(Default, Clone, Copy, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WhenStopped {
    /// The node returns the best answer so far, and fails if there is none.
    #[default]
    Answer,
    /// The node fails.
    Fail,
}

fn strategies(_: &mut SchemaGenerator) -> Schema {
    let names = StrategyName::ALL.map(StrategyName::as_str);
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

pub(super) fn node_type() -> NodeType {
    let summary = "A reasoning strategy, worked through stage by stage.";
    NodeType::new("strategy", summary, make).with_client()
}

fn make(settings: Settings, making: &mut Making<'_, '_>) -> Result<Made, Vec<SettingProblem>> {
    let Settings {
        strategy,
        table,
        prompt,
        budget,
        when_stopped,
        tools,
    } = settings;

    let problem = |error: &dyn std::fmt::Display| SettingProblem::new(error.to_string());
    let method: Box<dyn Method> = match (strategy, table) {
        (Some(name), None) => {
            let name: StrategyName = name
                .parse()
                .map_err(|error| problem(&error).at("strategy"))?;
            name.into()
        }
        (None, Some(table)) => Box::new(own_strategy(table)?),
        _ => return Err(SettingProblem::new("expected either `strategy` or `table`").into()),
    };

    let prompt = making.prompt(prompt)?;
    let solver = Solver::new(making.client()?, method)
        .with_request(making.request())
        .with_tools(making.tools("tools", &tools)?)
        .with_limits(budget);
    let flow = solver
        .clone()
        .into_flow()
        .map_err(|error| problem(&error))?;

    let unbegun = solver.clone();
    let inside = Inside {
        id: making.id().into(),
        prompt,
        flow,
        leave: |_| Action::DEFAULT,
    };

    inside.made(
        move |state, id, prompt| state.begin_solving(id, solver.begin(prompt.text)),
        move |state, id| state.solving_mut(id, || unbegun.begin(String::new())),
        move |state, id| {
            let solving = state
                .solving(id)
                .ok_or_else(|| NoAnswer("no run has begun".to_owned()))?;
            let answered = solving.end() == Some(&EndReason::Answered);
            match solving.best() {
                Some(best) if answered || when_stopped == WhenStopped::Answer => {
                    let spent = solving.spent();
                    let stopped = solving.end().filter(|_| !answered);
                    let output = Output {
                        text: best.text.clone(),
                        cut_short: stopped.map(ToString::to_string),
                        calls: spent.calls,
                        usage: spent.usage,
                        ..Output::default()
                    };

                    Ok(Visit::answered(id, output)
                        .with_tries(solving.calls().iter().flat_map(tries))
                        .with_spent(spent))
                }
                _ => {
                    let end = solving.end().map(ToString::to_string).unwrap_or_default();
                    Err(NoAnswer(format!("the strategy came to no answer: {end}")))
                }
            }
        },
    )
}

fn tries(call: &Call) -> Vec<Try> {
    match call {
        Call::Model(asked) => asked.tries.clone(),
        _ => Vec::new(),
    }
}

/// Reads the strategy from a table in the file.
fn own_strategy(table: Json) -> Result<Strategy, Vec<SettingProblem>> {
    const NAME: &str = "own";
    let text = Json::from_iter([(NAME, table)]).to_string();
    let tables = Strategies::from_json(&text).map_err(|error| {
        let located = |problem: &TableProblem| {
            let place = problem.place.replacen(NAME, "table", 1);
            SettingProblem::new(problem.message.clone()).at(place)
        };
        error.problems().iter().map(located).collect::<Vec<_>>()
    })?;

    tables
        .get(NAME)
        .cloned()
        .map_err(|error| SettingProblem::new(error.to_string()).at("table").into())
}
