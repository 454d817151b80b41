//! Self-consistency: several paths to one answer, and a vote. Calls that can't change the result are not made.
//!
//! ```text
//!   1 problem_reception: What is 47 * 86 g?
//!   2 multiple_path_sampling: 7 paths at a temperature of 0.7. · paths = 7
//!   3 [path 1] reasoning_path_execution: 47 * 80 = 3760, 47 * 6 = 282. · path_id = path 1
//!   4 [path 2] reasoning_path_execution: 47 * 90 = 4230, less 47 * 4 = 188. · path_id = path 2
//!   5 [path 3] reasoning_path_execution: 86 * 47, digit by digit. · path_id = path 3
//!   6 [path 4] reasoning_path_execution: 47 * 80 = 3760, 47 * 6 = 272, together 4032. · path_id = path 4
//!   7 [path 5] reasoning_path_execution: 47 * 80 = 3760, 47 * 6 = 282. · path_id = path 5
//!   8 [path 1] answer_collection: 5 of 7 paths gave an answer. · answers = {"path 1":"4042 g","path 2":"4042.0 grams","path 3":"**4,042 g**","path 4":"4032 g","path 5":"4042 g"}
//!   9 [path 1] consistency_analysis: 4042 g: 4 (path 1, path 2, path 3, path 5); 4032 g: 1 (path 4)
//!  10 [path 1] majority_selection: 4042 g, with 4 of 5 votes.
//!  11 [path 1] final_response: 4042 g
//! -> 4042 g, agreement 0.80 (5 calls, about 451 tokens)
//! ```

use std::error::Error;

use cogwork::llm::ScriptedClient;
use cogwork::strategies::Solver;
use cogwork::strategies::methods::SelfConsistency;
use cogwork_quickstart::model;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "47 * 80 = 3760, 47 * 6 = 282.\n**Answer:** 4042 g",
        "thought: 47 * 90 = 4230, less 47 * 4 = 188.\nanswer: 4042.0 grams",
        "thought: 86 * 47, digit by digit.\nanswer: **4,042 g**",
        "thought: 47 * 80 = 3760, 47 * 6 = 272, together 4032.\nanswer: 4032 g",
        "47 * 80 = 3760, 47 * 6 = 282.\n**Answer:** 4042 g",
    ]))?;

    // Case, punctuation and number formats are ignored by default. This adds other ways to write
    // the same answer.
    let method = SelfConsistency {
        paths: 7,
        normalisation: |answer| SelfConsistency::normalised(answer).replace("grams", "g"),
        ..SelfConsistency::default()
    };

    // Only one call is made at a time, so that the last ones turn out not to be needed.
    let solver = Solver::new(client, method).with_calls_at_once(1);
    let solved = solver.solve("What is 47 * 86 g?").await?;

    print!("{solved}");
    println!(
        "-> {}, agreement {:.2} ({})",
        solved.answer().unwrap_or("none"),
        solved.confidence().unwrap_or_default(),
        solved.spent()
    );
    Ok(())
}
