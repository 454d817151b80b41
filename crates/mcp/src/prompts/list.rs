//! Listing prompts.

use cogwork_strategies::Strategies;
use rmcp::model::{ListPromptsResult, Prompt};

use super::arguments::{LOOP, Way, Ways, definitions};

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
