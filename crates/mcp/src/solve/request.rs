//! The definition of the tool, and the arguments of a call.

use std::time::Duration;

use cogwork_strategies::SolveBudget;
use cogwork_text::NameList;
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::backend::{Backend, SolveMethod};
use super::result::Answered;
use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::method::Method;
use crate::store::SessionId;
use crate::tool::{ToolFailure, schema_of};

/// A run that is asked for.
#[derive(Debug)]
pub(super) struct SolveRequest {
    pub(super) problem: String,
    pub(super) method: SolveMethod,
    pub(super) budget: SolveBudget,
    /// The id that the client chose for the session.
    pub(super) session: Option<SessionId>,
}

impl SolveRequest {
    pub(super) fn read(
        arguments: JsonObject,
        backend: &Backend,
        limits: &ServerLimits,
    ) -> Result<Self, ToolFailure> {
        let mut arguments = Arguments::new(arguments);

        let problem = arguments.required_text("problem", limits.thought_bytes)?;
        if problem.trim().is_empty() {
            let empty = arguments.fault("problem", "a text that isn't empty", &json!(problem));
            return Err(empty.into());
        }

        let method = read_method(&mut arguments, backend)?;
        let session = arguments.session_id("sessionId")?;
        let budget = read_budget(&mut arguments, method)?;
        arguments.finish()?;

        Ok(Self {
            problem,
            method,
            budget,
            session,
        })
    }
}

fn read_method(arguments: &mut Arguments, backend: &Backend) -> Result<SolveMethod, ArgumentError> {
    let methods = backend.methods();
    let names: Vec<_> = methods.iter().map(|method| method.as_str()).collect();
    let find = |name: &str| SolveMethod::named(name).filter(|method| methods.contains(method));

    let chosen = arguments.named("strategy", NameList::or(names), find)?;
    let default = methods.first().copied();
    Ok(chosen
        .or(default)
        .unwrap_or(SolveMethod::Client(Method::Loop)))
}

/// Reads limits that are lower than those of the server.
fn read_budget(
    arguments: &mut Arguments,
    method: SolveMethod,
) -> Result<SolveBudget, ArgumentError> {
    let most = SolveBudget::default();
    let mut limits = arguments.nested("budget")?;
    let seconds = limits.integer("seconds", 1..=in_u32(most.time.as_secs()))?;
    let time = seconds.map_or(most.time, |seconds| Duration::from_secs(seconds.into()));
    if method == SolveMethod::Flow {
        limits.finish()?;
        return Ok(most.with_time(time));
    }

    let calls = limits.integer("calls", 1..=most.calls.max(1))?;
    let tokens = limits.integer("tokens", 1..=in_u32(most.tokens))?;
    let thoughts = limits.integer("thoughts", 1..=most.thoughts.max(1))?;
    limits.finish()?;

    Ok(most
        .with_time(time)
        .with_calls(calls.unwrap_or(most.calls))
        .with_tokens(tokens.map_or(most.tokens, u64::from))
        .with_thoughts(thoughts.unwrap_or(most.thoughts)))
}

/// Returns a number that is at least 1, for a range from 1.
fn in_u32(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX).max(1)
}

const DESCRIPTION: &str = "Solves a problem with another model, in a run of many thoughts that follow a strategy, and \
returns the answer. Use it for a problem that can be described completely in one text, and that is worth minutes and \
many calls to that model. The model sees nothing but `problem`: include all facts, constraints and the form of the \
answer. To reason yourself, use the other tools.";

pub(super) fn definition(backend: &Backend) -> Tool {
    let annotations = ToolAnnotations::with_title("Solve a problem")
        .read_only(false)
        .destructive(false)
        .idempotent(false)
        .open_world(true);

    Tool::new("solve", DESCRIPTION, object(input(backend)))
        .with_title("Solve a problem")
        .with_raw_output_schema(schema_of::<Answered>())
        .with_annotations(annotations)
}

fn input(backend: &Backend) -> Value {
    let most = SolveBudget::default();
    let methods = backend.methods();
    let names: Vec<_> = methods.iter().map(|method| method.as_str()).collect();

    json!({
        "type": "object",
        "properties": {
            "problem": {
                "type": "string",
                "minLength": 1,
                "description": "The problem, with everything that is needed to solve it.",
            },
            "strategy": {
                "type": "string",
                "enum": names,
                "description": describe(&methods),
            },
            "budget": {
                "type": "object",
                "description": "Lower limits than those of the server. A run that reaches one returns the best answer so far.",
                "properties": {
                    "calls": limit("Calls to the model.", most.calls.into()),
                    "tokens": limit("Tokens, read and written.", most.tokens),
                    "thoughts": limit("Thoughts.", most.thoughts.into()),
                    "seconds": limit("Time of all calls, in seconds.", most.time.as_secs()),
                },
                "additionalProperties": false,
            },
            "sessionId": {
                "type": "string",
                "pattern": "^[A-Za-z0-9_.:-]{1,128}$",
                "description": "An id for the session of this run, if you want to choose it. There must be no such session yet.",
            },
        },
        "required": ["problem"],
        "additionalProperties": false,
    })
}

fn limit(description: &str, most: u64) -> Value {
    let most = u32::try_from(most).unwrap_or(u32::MAX).max(1);
    json!({"type": "integer", "minimum": 1, "maximum": most, "description": description})
}

fn describe(methods: &[SolveMethod]) -> String {
    let default = methods
        .first()
        .map_or(Method::LOOP, |method| method.as_str());
    let described = methods
        .iter()
        .map(|method| format!("`{method}`: {}", purpose(*method)));
    let described: Vec<_> = described.collect();
    format!(
        "How to solve it. The default is `{default}`. {}",
        described.join(" ")
    )
}

fn purpose(method: SolveMethod) -> String {
    match method {
        SolveMethod::Client(Method::Strategy(name)) => name.strategy().description().to_owned(),
        SolveMethod::Client(Method::Loop) => {
            "Makes a plan, works through it, and corrects it in each thought.".to_owned()
        }
        SolveMethod::Flow => {
            "The flow that this server was started with; of the limits, only `seconds` applies."
                .to_owned()
        }
    }
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}
