//! The arguments of `solve`.

use std::time::Duration;

use cogwork_strategies::{SolveBudget, StrategyName};
use rmcp::model::JsonObject;
use serde_json::json;

use super::backend::{Backend, Method};
use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::store::SessionId;
use crate::tool::ToolFailure;

/// A run that is asked for.
#[derive(Debug)]
pub(super) struct SolveRequest {
    pub(super) problem: String,
    pub(super) method: Method,
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
        let session = read_session(&mut arguments)?;
        let budget = read_budget(&mut arguments, method, backend.budget)?;
        arguments.finish()?;

        Ok(Self {
            problem,
            method,
            budget,
            session,
        })
    }
}

fn read_method(arguments: &mut Arguments, backend: &Backend) -> Result<Method, ArgumentError> {
    let methods = backend.methods();
    let mut choices: Vec<_> = methods
        .iter()
        .map(|method| (method.as_str(), *method))
        .collect();

    if backend.client().is_some() {
        // The document uses both names.
        choices.push(("base_sequential", Method::Strategy(StrategyName::Linear)));
    }

    let chosen = arguments.choice("strategy", &choices)?;
    let default = methods.first().copied().unwrap_or(Method::Loop);
    Ok(chosen.unwrap_or(default))
}

fn read_session(arguments: &mut Arguments) -> Result<Option<SessionId>, ArgumentError> {
    let Some(id) = arguments.text("sessionId", SessionId::MAX_CHARS)? else {
        return Ok(None);
    };

    let expected = "1 to 128 ASCII letters, digits, `-`, `_`, `.` and `:`";
    let session = SessionId::named(&id);
    session
        .map(Some)
        .ok_or_else(|| arguments.fault("sessionId", expected, &json!(id)))
}

/// Reads limits that are lower than those of the server.
fn read_budget(
    arguments: &mut Arguments,
    method: Method,
    most: SolveBudget,
) -> Result<SolveBudget, ArgumentError> {
    let mut limits = arguments.nested("budget")?;
    let seconds = limits.integer("seconds", 1..=in_u32(most.time.as_secs()))?;
    let time = seconds.map_or(most.time, |seconds| Duration::from_secs(seconds.into()));
    if method == Method::Flow {
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
