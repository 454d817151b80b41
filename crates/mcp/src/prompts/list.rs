//! Listing and returning prompts.

use cogwork_strategies::Strategies;
use rmcp::ErrorData;
use rmcp::model::{
    GetPromptRequestParams, GetPromptResult, ListPromptsResult, Prompt, PromptMessage, Role,
};

use super::arguments::{LOOP, PromptArguments, Way, Ways, definitions};
use super::text;
use crate::store::SessionStore;

/// What the loop is for.
const DESCRIPTION: &str =
    "Makes a plan, works through it, and evaluates and corrects it in each thought.";

/// Lists a prompt for each strategy, and one for the loop, if there is a tool to follow it.
pub(crate) fn list(strategies: &Strategies, offered: Ways) -> ListPromptsResult {
    let prompt = |name: &str, title: String, description: &str| {
        let ways = Way::all(name, offered);
        let arguments = (!ways.is_empty()).then(|| definitions(&ways))?;
        Some(Prompt::new(name, Some(description), Some(arguments)).with_title(title))
    };

    let the_loop = prompt(LOOP, "Think with a plan".to_owned(), DESCRIPTION);
    let strategies = strategies.iter().filter_map(|strategy| {
        let name = strategy.name();
        let title = format!("Think by {}", name.replace('_', " "));
        prompt(name, title, strategy.description())
    });
    ListPromptsResult::with_all_items(the_loop.into_iter().chain(strategies).collect())
}

/// Returns the messages of a prompt.
pub(crate) fn get(
    store: &SessionStore,
    offered: Ways,
    request: GetPromptRequestParams,
) -> Result<GetPromptResult, ErrorData> {
    let is_loop = request.name == LOOP;
    let ways = Way::all(&request.name, offered);

    let strategy = match store.strategies().get(&request.name) {
        Ok(strategy) => Some(strategy),
        Err(_) if is_loop => None,
        Err(error) => {
            let message = format!("there is no such prompt: {error}, or `{LOOP}`");
            return Err(ErrorData::invalid_params(message, None));
        }
    };
    if ways.is_empty() {
        let message = "there is no such prompt, because the server has no tool for it";
        return Err(ErrorData::invalid_params(message, None));
    }
    let arguments = PromptArguments::read(request.arguments, &ways, store.limits())?;

    let name = strategy.map_or(LOOP, |strategy| strategy.name());
    let text = match (arguments.way, strategy) {
        (Way::Think, Some(strategy)) => text::think(strategy, &arguments),
        (Way::Solve, _) => text::solve(name, &arguments),
        _ => text::begin(name, &arguments),
    };
    let message = PromptMessage::new_text(Role::User, text);

    let mut result = GetPromptResult::new(vec![message]);
    result.description = Some(format!(
        "Solves a problem with `{name}` and the tool `{}`",
        arguments.way.as_str()
    ));
    Ok(result)
}
