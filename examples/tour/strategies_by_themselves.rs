//! Two strategies that run on their own: ReAct, which goes back for a second search, and a tree of
//! thoughts with the approaches A and B. The model is a script, and the output shows what it was
//! asked.
//!
//! ```text
//! react: Which is higher, Galdhøpiggen or Glittertind?
//!   1 problem_reception: Which is higher, Galdhøpiggen or Glittertind?
//!   2 initial_reasoning: I must know both heights.
//!   3 action_planning: Next: search. · action = search · action_input = Galdhøpiggen
//!   4 action_execution: Called: search.
//!   5 observation_reception: Galdhøpiggen is 2469 m high.
//!   6 reasoning_update: That is one of them; I need more information.
//!   7 evaluation_checkpoint: Another action is needed.
//!   8 action_planning: Next: search. · action = search · action_input = Glittertind
//!   9 action_execution: Called: search.
//!  10 observation_reception: Glittertind is 2452 m high, without its ice.
//!  11 reasoning_update: 2469 is more than 2452.
//!  12 evaluation_checkpoint: Enough is known.
//!  13 solution_formulation: Galdhøpiggen, by 17 m
//!  14 final_response: Galdhøpiggen, by 17 m
//! -> Galdhøpiggen, by 17 m (answered; 3 calls, about 869 tokens, 2 tool calls)
//!
//! tree_of_thoughts: What is 17 * 38?
//!   1 problem_reception: What is 17 * 38?
//!   2 approach_exploration: Approaches: A, B, C. · approaches = [{"description":"Multiply the tens and the ones.","id":"A","promise":9.0},{"description":"Round up and take away.","id":"B","promise":8.0},{"description":"Add seventeen up.","id":"C","promise":2.0}]
//!   3 [A] branch_creation: Multiply the tens and the ones. · approach_id = A
//!   4 [A] branch_development: 10 * 38 = 380, and 7 * 38 is left. · approach_id = A
//!   5 [A] branch_evaluation: Right, and what is left is easy. · approach_id = A · evaluation_score = 7.0
//!   6 [A] branch_selection: Chosen with a score of 7. · approach_id = A
//!   7 [A] continuation_decision: Try B.
//!   8 [B] branch_creation: Round up and take away. · approach_id = B
//!   9 [B] branch_development: 20 * 38 = 760, and 3 * 38 too many. · approach_id = B
//!  10 [B] branch_evaluation: Right, but it needs a subtraction. · approach_id = B · evaluation_score = 5.0
//!  11 [A] branch_development: 7 * 38 = 266, so it is 380 + 266 = 646. · approach_id = A
//!  12 [A] branch_evaluation: Right, and nothing is left. · approach_id = A · evaluation_score = 10.0
//!  13 [A] branch_selection: Chosen with a score of 10. · approach_id = A
//!  14 [A] continuation_decision: `A` holds the solution.
//!  15 [A] solution_formulation: 17 * 38 = 10 * 38 + 7 * 38 = 380 + 266 = 646.
//!  16 [A] path_justification: `A` is solved, with a score of 10.
//!  17 [A] final_response: 646
//! -> 646 (answered; 8 calls, about 1226 tokens)
//! ```

use std::error::Error;

use cogwork::llm::ScriptedClient;
use cogwork::strategies::methods::{React, Search, TreeOfThoughts};
use cogwork::strategies::{Solver, Solving};
use cogwork::tools::schemars::JsonSchema;
use cogwork::tools::{ToolError, Tools, function};
use cogwork_quickstart::model;
use serde::Deserialize;

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    show(&react().await?);
    println!();
    show(&tree_of_thoughts().await?);

    Ok(())
}

fn show(solved: &Solving) {
    println!(
        "{}: {}",
        solved.session().strategy().name(),
        solved.problem()
    );

    print!("{solved}");
    println!(
        "-> {} ({}; {})",
        solved.answer().unwrap_or("none"),
        solved.end().map(ToString::to_string).unwrap_or_default(),
        solved.spent()
    );
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    /// The search term.
    query: String,
}

async fn react() -> Result<Solving, Box<dyn Error>> {
    let library = |Query { query }: Query| async move {
        match query.as_str() {
            "Galdhøpiggen" => Ok("Galdhøpiggen is 2469 m high.".to_owned()),
            "Glittertind" => Ok("Glittertind is 2452 m high, without its ice.".to_owned()),
            _ => Err(ToolError::failed("nothing found")),
        }
    };

    let tools = Tools::new().with(function("search", "Looks a thing up.", library))?;
    let client = model(ScriptedClient::new([
        "thought: I must know both heights.\naction: search\naction_input: Galdhøpiggen",
        "thought: That is one of them; I need more information.\naction: search\naction_input: Glittertind",
        "thought: 2469 is more than 2452.\naction: finish\naction_input: Galdhøpiggen, by 17 m",
    ]))?;

    let solver = Solver::new(client, React::default()).with_tools(tools);
    Ok(solver
        .solve("Which is higher, Galdhøpiggen or Glittertind?")
        .await?)
}

async fn tree_of_thoughts() -> Result<Solving, Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        r#"approaches: [
            {"id": "A", "description": "Multiply the tens and the ones.", "promise": 9},
            {"id": "B", "description": "Round up and take away.", "promise": 8},
            {"id": "C", "description": "Add seventeen up.", "promise": 2}]"#,
        "10 * 38 = 380, and 7 * 38 is left.",
        "thought: Right, and what is left is easy.\nevaluation_score: 7\nsolved: no",
        "20 * 38 = 760, and 3 * 38 too many.",
        "thought: Right, but it needs a subtraction.\nevaluation_score: 5\nsolved: no",
        "7 * 38 = 266, so it is 380 + 266 = 646.",
        "thought: Right, and nothing is left.\nevaluation_score: 10\nsolved: yes",
        "thought: 17 * 38 = 10 * 38 + 7 * 38 = 380 + 266 = 646.\nanswer: 646",
    ]))?;

    // One step is made at a time, always on the branch with the highest score. An approach that has
    // not been tried yet counts with its estimated score. After the first step of A, the branch
    // with the highest score is therefore B.
    let method = TreeOfThoughts {
        search: Search::BestFirst,
        proposals: 1,
        ..TreeOfThoughts::default()
    };
    Ok(Solver::new(client, method)
        .solve("What is 17 * 38?")
        .await?)
}
