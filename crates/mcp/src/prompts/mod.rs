//! Strategies as prompts, which explain to the model of a host how to work with the tools, and the
//! completion of names.

mod completion;
mod text;

use cogwork_strategies::Strategies;
use cogwork_text::NameList;
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptArgument,
    PromptMessage, Role,
};
use serde::Deserialize;

use crate::arguments;
use crate::method::Method;
use crate::store::{SessionId, SessionStore};
use crate::tool::ToolFailure;

pub(crate) use completion::complete;

/// A way to follow a strategy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// The model of the host thinks, and the table checks each thought.
    Think,
    /// The model of the host answers questions.
    Begin,
    /// The server's own model solves the problem.
    Solve,
}

impl Way {
    pub(crate) const ALL: [Self; 3] = [Self::Think, Self::Begin, Self::Solve];

    /// Returns the tools that it needs. The first one is its name.
    pub(crate) fn tools(self) -> &'static [&'static str] {
        match self {
            Self::Think => &["think"],
            Self::Begin => &["begin", "answer"],
            Self::Solve => &["solve"],
        }
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Think => "think",
            Self::Begin => "begin",
            Self::Solve => "solve",
        }
    }

    /// Returns the ways to follow the method of this name. The first one is the default.
    fn of(name: &str, offered: &[Self]) -> Vec<Self> {
        let suits = |way: &&Self| match way {
            Self::Think => name != Method::LOOP,
            // Strategies of the user have a table, but no method.
            Self::Begin | Self::Solve => Method::named(name).is_some(),
        };
        offered.iter().filter(suits).copied().collect()
    }
}

/// The arguments of a prompt that is asked for.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct PromptArguments {
    problem: String,
    tool: Option<String>,
    session_id: Option<SessionId>,
}

/// What the loop is for.
const DESCRIPTION: &str =
    "Makes a plan, works through it, and evaluates and corrects it in each thought.";

/// Lists a prompt for each strategy, and one for the loop, if there is a tool to follow it.
pub(crate) fn list(strategies: &Strategies, offered: &[Way]) -> ListPromptsResult {
    let prompt = |name: &str, title: String, description: &str| {
        let ways = Way::of(name, offered);
        let arguments = definitions(&ways)?;
        Some(Prompt::new(name, Some(description), Some(arguments)).with_title(title))
    };

    let the_loop = prompt(Method::LOOP, "Think with a plan".to_owned(), DESCRIPTION);
    let strategies = strategies.iter().filter_map(|strategy| {
        let name = strategy.name();
        let title = format!("Think by {}", name.replace('_', " "));
        prompt(name, title, strategy.description())
    });
    ListPromptsResult::with_all_items(the_loop.into_iter().chain(strategies).collect())
}

/// Returns the definitions of the arguments, if there is a way.
fn definitions(ways: &[Way]) -> Option<Vec<PromptArgument>> {
    let default = ways.first()?.as_str();
    let tool = format!(
        "The tool to work with: {}. The default is `{default}`.",
        names(ways)
    );
    let argument = |name: &str, description: &str| {
        PromptArgument::new(name)
            .with_description(description)
            .with_required(name == "problem")
    };

    Some(vec![
        argument(
            "problem",
            "The problem, with everything that is needed to solve it.",
        ),
        argument("tool", &tool),
        argument(
            "sessionId",
            "An id for the session, or that of one to continue.",
        ),
    ])
}

fn names(ways: &[Way]) -> String {
    let names = ways.iter().map(|way| way.as_str());
    NameList::or(names.collect::<Vec<_>>()).to_string()
}

/// Returns the messages of a prompt.
pub(crate) fn get(
    store: &SessionStore,
    offered: &[Way],
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let ways = Way::of(&request.name, offered);
    let strategy = match store.strategies().get(&request.name) {
        Ok(strategy) => Some(strategy),
        Err(_) if request.name == Method::LOOP => None,
        Err(error) => {
            let message = format!("there is no such prompt: {error}, or `{}`", Method::LOOP);
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    let Some(default) = ways.first() else {
        let message = "there is no such prompt, because the server has no tool for it";
        return Err(ErrorData::invalid_params(message, None));
    };

    let arguments = read(store, request)?;
    let way = match &arguments.tool {
        None => default,
        Some(tool) => ways
            .iter()
            .find(|way| way.as_str() == tool)
            .ok_or_else(|| {
                invalid(arguments::wrong(
                    "tool",
                    names(&ways),
                    &tool.as_str().into(),
                ))
            })?,
    };

    let name = strategy.map_or(Method::LOOP, |strategy| strategy.name());
    let text = match (way, strategy) {
        (Way::Think, Some(strategy)) => text::think(strategy, &arguments),
        (Way::Solve, _) => text::solve(name, &arguments),
        _ => text::begin(name, &arguments),
    };
    let message = PromptMessage::new_text(Role::User, text);

    let mut result = GetPromptResult::new(vec![message]);
    result.description = Some(format!(
        "Solves a problem with `{name}` and the tool `{}`",
        way.as_str()
    ));
    Ok(result)
}

/// Reads arguments, which are texts. Many hosts send empty ones for those that are left out.
fn read(
    store: &SessionStore,
    request: GetPromptRequestParams,
) -> Result<PromptArguments, ErrorData> {
    let mut arguments = request.arguments.unwrap_or_default();
    arguments.retain(|_, value| value.as_str().is_none_or(|text| !text.trim().is_empty()));
    arguments::read(arguments, store.limits().thought_bytes).map_err(invalid)
}

fn invalid(failure: ToolFailure) -> ErrorData {
    let (ToolFailure::Message(message) | ToolFailure::Described { message, .. }) = failure;
    ErrorData::invalid_params(message, None)
}
