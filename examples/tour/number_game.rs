//! A tree of thoughts with three ways to search: get from 5 to 26 by adding 4 and doubling. The model proposes both
//! operations each time, and scores a number by its distance to 26.
//!
//! ```text
//! beam of 2    5 + 4 = 9, 9 * 2 = 18, 18 + 4 = 22, 22 + 4 = 26 (20 calls, about 3495 tokens, 8 branches)
//! depth first  5 + 4 = 9, 9 * 2 = 18, 18 + 4 = 22, 22 + 4 = 26 (11 calls, about 1899 tokens, 4 branches)
//! best first   5 + 4 = 9, 9 * 2 = 18, 18 + 4 = 22, 22 + 4 = 26 (11 calls, about 1899 tokens, 4 branches)
//! ```

use std::error::Error;

use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
use cogwork::strategies::Solver;
use cogwork::strategies::methods::{Search, TreeOfThoughts};
use serde_json::{Value, json};

const START: i64 = 5;
const GOAL: i64 = 26;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    for (name, search) in [
        ("beam of 2", Search::BreadthFirst { beam_width: 2 }),
        ("depth first", Search::DepthFirst),
        ("best first", Search::BestFirst),
    ] {
        let tree = TreeOfThoughts {
            approaches: 2,
            proposals: 2,
            depth: 4,
            search,
            ..TreeOfThoughts::default()
        };
        let solved = Solver::new(Player, tree).solve(problem()).await?;

        let branches = solved.session().branches().len() - 1;
        println!(
            "{name:<12} {} ({}, {branches} branches)",
            solved.answer().unwrap_or("none found"),
            solved.spent()
        );
    }
    Ok(())
}

pub(crate) fn problem() -> String {
    format!("Get from {START} to {GOAL} by adding 4 and doubling.")
}

/// The model.
pub(crate) struct Player;

#[async_trait]
impl LlmClient for Player {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request.messages().last().map_or("", |last| last.text());
        let steps: Vec<&str> = asked.lines().filter_map(step).collect();
        let number = steps.last().and_then(|step| step.rsplit(' ').next());
        let number = number.and_then(|number| number.parse().ok());
        let number = number.unwrap_or(START);

        let next = [
            format!("{number} + 4 = {}", number + 4),
            format!("{number} * 2 = {}", number * 2),
        ];
        let score = (10 - (GOAL - number).abs() / 3).max(0);

        let reply = if asked.contains("\napproaches: ") {
            let approach =
                |step: String| json!({"id": step, "description": step, "promise": score});
            let approaches: Value = next.into_iter().map(approach).collect();
            format!("approaches: {approaches}")
        } else if asked.contains("\nproposals: ") {
            format!("proposals:\n- {}\n- {}", next[0], next[1])
        } else if asked.contains("\nevaluation_score: ") {
            format!("evaluation_score: {score}\nsolved: {}", number == GOAL)
        } else {
            format!("answer: {}", steps.join(", "))
        };
        Ok(ChatResponse::new(reply))
    }
}

/// Returns the step in a line such as `2. 9 * 2 = 18`.
fn step(line: &str) -> Option<&str> {
    let (number, step) = line.split_once(". ")?;
    let is_step = number.parse::<u32>().is_ok() && step.contains(" = ");
    is_step.then_some(step)
}
