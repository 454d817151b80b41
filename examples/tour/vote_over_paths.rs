//! Self-consistency: several paths to one answer, and a vote. The model behind the client
//! multiplies by hand. The seed of a request determines which method it uses and whether it forgets
//! to carry, like the temperature of a real model. Each path has a different seed.
//!
//! ```text
//! What is 47 * 86 g?
//!   path 1: 47 * 80 = 3760, 47 * 6 = 282.
//!   path 2: 47 * 90 = 4230, less 47 * 4 = 188.
//!   path 3: 86 * 47, digit by digit.
//!   path 4: 47 * 80 = 3760, 47 * 6 = 272, together 4032.
//!   path 5: 47 * 80 = 3760, 47 * 6 = 282.
//!   5 of 7 paths gave an answer. Not needed any more: 2.
//!   4042 g: 4 (path 1, path 2, path 3, path 5); 4032 g: 1 (path 4)
//!   4042 g, with 4 of 5 votes.
//!   -> 4042 g, agreement 0.80 (5 calls, about 451 tokens)
//!
//! What is 68 * 93 g?
//!   path 1: 68 * 90 = 6120, 68 * 3 = 194, together 6314.
//!   path 2: 68 * 90 = 6120, 68 * 3 = 204.
//!   path 3: 68 * 100 = 6800, less 68 * 7 = 476.
//!   path 4: 93 * 68, digit by digit.
//!   path 5: 68 * 90 = 6120, 68 * 3 = 194, together 6314.
//!   path 6: 68 * 90 = 6120, 68 * 3 = 204.
//!   6 of 7 paths gave an answer. Not needed any more: 1.
//!   6324 g: 4 (path 2, path 3, path 4, path 6); 6314 g: 2 (path 1, path 5)
//!   6324 g, with 4 of 6 votes.
//!   -> 6324 g, agreement 0.67 (6 calls, about 545 tokens)
//! ```

use std::error::Error;

use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, async_trait};
use cogwork::strategies::Solver;
use cogwork::strategies::methods::SelfConsistency;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    // Case, punctuation and number formats are ignored by default. This adds other ways to write
    // the same answer.
    let in_grams = |answer: &str| SelfConsistency::normalised(answer).replace("grams", "g");
    let method = SelfConsistency {
        paths: 7,
        normalisation: in_grams,
        ..SelfConsistency::default()
    };

    // Only one call is made at a time, to show that calls that can't change the result are skipped.
    let solver = Solver::new(ByHand, method).with_calls_at_once(1);
    for (problem, seed) in [("What is 47 * 86 g?", 1), ("What is 68 * 93 g?", 4)] {
        let solved = solver
            .clone()
            .with_request(ChatRequest::default().with_seed(seed))
            .solve(problem)
            .await?;

        println!("{problem}");
        for thought in solved.trace().session().thoughts().iter().skip(2) {
            let session = solved.trace().session();
            match thought.stage() {
                "reasoning_path_execution" => {
                    println!(
                        "  {}: {}",
                        session.branch(thought.branch())?.name(),
                        thought.text()
                    );
                }
                "answer_collection" | "consistency_analysis" | "majority_selection" => {
                    println!("  {}", thought.text())
                }
                _ => {}
            }
        }

        let sure = solved.confidence().unwrap_or_default();
        println!(
            "  -> {}, agreement {sure:.2} ({})\n",
            solved.answer().unwrap_or("none"),
            solved.spent()
        );
    }

    Ok(())
}

/// The model.
struct ByHand;

#[async_trait]
impl LlmClient for ByHand {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .last()
            .map(|message| message.text().to_owned())
            .unwrap_or_default();

        let mut numbers = asked
            .split(|letter: char| !letter.is_ascii_digit())
            .filter_map(|word| word.parse::<u32>().ok());
        let (Some(a), Some(b)) = (numbers.next(), numbers.next()) else {
            return Ok(ChatResponse::new("I find no two numbers."));
        };

        let seed = request.seed().unwrap_or_default();
        let tens = b / 10 * 10;
        let ones = b % 10;
        let up = tens + 10;

        Ok(ChatResponse::new(match seed % 4 {
            // Forgets to carry the ten.
            0 => {
                let slip = a * ones - 10;
                let sum = a * tens + slip;
                format!(
                    "thought: {a} * {tens} = {}, {a} * {ones} = {slip}, together {sum}.\nanswer: {sum} g",
                    a * tens
                )
            }
            1 => {
                let sum = a * b;
                format!(
                    "{a} * {tens} = {}, {a} * {ones} = {}.\n**Answer:** {sum} g",
                    a * tens,
                    a * ones
                )
            }
            2 => format!(
                "thought: {a} * {up} = {}, less {a} * {} = {}.\nanswer: {}.0 grams",
                a * up,
                10 - ones,
                a * (10 - ones),
                a * b
            ),
            _ => {
                let thousands = a * b / 1000;
                format!(
                    "thought: {b} * {a}, digit by digit.\nanswer: **{thousands},{:03} g**",
                    a * b % 1000
                )
            }
        }))
    }
}
