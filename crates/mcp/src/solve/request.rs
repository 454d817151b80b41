//! The arguments of `solve`.

use std::time::Duration;

use cogwork_strategies::SolveBudget;
use cogwork_text::NameList;
use rmcp::model::JsonObject;
use serde_json::json;

use super::backend::{Backend, SolveMethod};
use crate::ServerLimits;
use crate::arguments::{ArgumentError, Arguments};
use crate::method::Method;
use crate::store::SessionId;
use crate::tool::ToolFailure;

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
