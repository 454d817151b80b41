//! Listing prompts.

use cogwork_strategies::Strategies;
use rmcp::model::{ListPromptsResult, Prompt};

use super::arguments::{LOOP, Way, definitions};

/// What the loop is for.
const DESCRIPTION: &str =
    "Makes a plan, works through it, and evaluates and corrects it in each thought.";

/// Lists a prompt for each strategy, and one for the loop.
pub(crate) fn list(strategies: &Strategies, has_solve: bool) -> ListPromptsResult {
    let prompt = |name: &str, title: String, description: &str| {
        let arguments = definitions(&Way::all(name, has_solve));
        Prompt::new(name, Some(description), Some(arguments)).with_title(title)
    };

    let the_loop = prompt(LOOP, "Think with a plan".to_owned(), DESCRIPTION);
    let strategies = strategies.iter().map(|strategy| {
        let name = strategy.name();
        let title = format!("Think by {}", name.replace('_', " "));
        prompt(name, title, strategy.description())
    });
    ListPromptsResult::with_all_items(std::iter::once(the_loop).chain(strategies).collect())
}
