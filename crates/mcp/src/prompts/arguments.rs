//! The arguments of prompts.

use std::str::FromStr;

use cogwork_strategies::StrategyName;
use cogwork_text::{Name, NameList};
use rmcp::ErrorData;
use rmcp::model::{JsonObject, PromptArgument};
use serde_json::Value;

use crate::ServerLimits;
use crate::store::SessionId;

/// The name of the prompt for the loop of thoughts with a plan, which isn't a strategy.
pub(super) const LOOP: &str = "loop";

/// Which ways to follow a strategy a server has tools for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ways {
    pub(crate) think: bool,
    pub(crate) begin: bool,
    pub(crate) solve: bool,
}

/// A way to follow a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Way {
    /// The model of the host thinks, and the table checks each thought.
    Think,
    /// The model of the host answers questions.
    Begin,
    /// The server's own model solves the problem.
    Solve,
}

impl Way {
    /// Returns the ways to follow the method of this name. The first one is the default.
    pub(super) fn all(name: &str, ways: Ways) -> Vec<Self> {
        let is_loop = name == LOOP;
        // Strategies of the user have a table, but no driver.
        let has_driver = is_loop || StrategyName::from_str(name).is_ok();

        let think = (!is_loop && ways.think).then_some(Self::Think);
        let begin = (has_driver && ways.begin).then_some(Self::Begin);
        let solve = (has_driver && ways.solve).then_some(Self::Solve);
        [think, begin, solve].into_iter().flatten().collect()
    }

    /// Returns the name of the tool.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Think => "think",
            Self::Begin => "begin",
            Self::Solve => "solve",
        }
    }
}

/// The arguments of a prompt that is asked for.
#[derive(Debug)]
pub(super) struct PromptArguments {
    pub(super) problem: String,
    pub(super) way: Way,
    /// The id for the session.
    pub(super) session: Option<SessionId>,
}

/// Returns the definitions of the arguments.
pub(super) fn definitions(ways: &[Way]) -> Vec<PromptArgument> {
    let names = ways.iter().map(|way| way.as_str());
    let default = ways.first().map_or("begin", |way| way.as_str());
    let tool = format!(
        "The tool to work with: {}. The default is `{default}`.",
        NameList::or(names.clone().collect::<Vec<_>>())
    );

    vec![
        PromptArgument::new("problem")
            .with_description("The problem, with everything that is needed to solve it.")
            .with_required(true),
        PromptArgument::new("tool")
            .with_description(tool)
            .with_required(false),
        PromptArgument::new("sessionId")
            .with_description("An id for the session, or that of one to continue.")
            .with_required(false),
    ]
}

impl PromptArguments {
    /// Reads arguments, which are texts.
    pub(super) fn read(
        arguments: Option<JsonObject>,
        ways: &[Way],
        limits: &ServerLimits,
    ) -> Result<Self, ErrorData> {
        let mut arguments = arguments.unwrap_or_default();

        let problem = text(&mut arguments, "problem", limits.thought_bytes)?;
        let problem = problem.filter(|problem| !problem.trim().is_empty());
        let problem = problem.ok_or_else(|| invalid("`problem` is missing; expected a text"))?;

        let tool = text(&mut arguments, "tool", SessionId::MAX_CHARS)?;
        let way = way(tool.as_deref(), ways)?;

        let session = text(&mut arguments, "sessionId", SessionId::MAX_CHARS)?;
        let session = session.filter(|id| !id.is_empty()).map(|id| {
            let named = SessionId::named(&id);
            let expected = SessionId::EXPECTED;
            named.ok_or_else(|| invalid(format!("`sessionId` must be {expected}")))
        });

        if let Some(name) = arguments.keys().next() {
            let name = Name(name);
            return Err(invalid(format!(
                "`{name}` isn't an argument of this prompt; expected `problem`, `tool` or `sessionId`"
            )));
        }
        Ok(Self {
            problem,
            way,
            session: session.transpose()?,
        })
    }
}

fn text(
    arguments: &mut JsonObject,
    name: &str,
    max_bytes: usize,
) -> Result<Option<String>, ErrorData> {
    match arguments.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.len() <= max_bytes => Ok(Some(text)),
        Some(Value::String(text)) => Err(invalid(format!(
            "`{name}` has {} bytes; expected at most {max_bytes}",
            text.len()
        ))),
        Some(_) => Err(invalid(format!("`{name}` isn't a text"))),
    }
}

fn way(tool: Option<&str>, ways: &[Way]) -> Result<Way, ErrorData> {
    let tool = tool.filter(|tool| !tool.is_empty());
    let Some(tool) = tool else {
        return Ok(ways.first().copied().unwrap_or(Way::Begin));
    };

    let found = ways.iter().find(|way| way.as_str() == tool);
    found.copied().ok_or_else(|| {
        let tool = Name(tool);
        let names: Vec<_> = ways.iter().map(|way| way.as_str()).collect();
        invalid(format!(
            "`{tool}` isn't a tool of this prompt; expected {}",
            NameList::or(names)
        ))
    })
}

fn invalid(message: impl Into<String>) -> ErrorData {
    ErrorData::invalid_params(message.into(), None)
}
