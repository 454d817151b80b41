//! A strategy of your own: least to most (Zhou et al. 2022). The model takes the problem apart into
//! smaller questions, the easiest first, and answers each with the answers before it in view.
//!
//! ```text
//! problem: Amy climbs a slide in 4 minutes and slides down in 1. It closes in 15. How often can she slide?
//! reduction: How long does one ride take? / How often can she slide before it closes?
//! question: How long does one ride take?: 4 + 1 = 5 minutes
//! question: How often can she slide before it closes?: 15 / 5 = 3
//! answer: 3 times
//! 4 calls, about 767 tokens
//! ```

use std::error::Error;

use cogwork::llm::ScriptedClient;
use cogwork::strategies::{Answer, Ask, Solve, Solver, Stop, Strategies, Strategy};
use cogwork_quickstart::model;
use schemars::JsonSchema;
use serde::Deserialize;

const TABLE: &str = "
least_to_most:
  description: Answer smaller questions, the easiest first.
  stages:
    problem: {description: The problem., prompt: State it., next: [reduction]}
    reduction:
      description: The smaller questions.
      prompt: Which smaller questions lead to the answer? Begin with the easiest.
      next: [question]
    question: {description: A question., prompt: Answer the question, next: [question, answer]}
    answer: {description: The answer., prompt: Now answer the problem itself., final: true}
";

/// The smaller questions.
#[derive(Deserialize, JsonSchema)]
struct Reduction {
    /// the questions, in the order in which they are answered
    #[schemars(length(min = 1))]
    questions: Vec<String>,
}

/// The answer to the problem.
#[derive(Deserialize, JsonSchema)]
struct Conclusion {
    /// the answer, short and complete
    answer: String,
}

fn least_to_most(cx: &mut Solve) -> Result<Answer, Stop> {
    cx.think_problem()?;

    let ask = Ask::of::<Reduction>(cx.prompt(&["reduction"])?);
    let Reduction { questions } = cx.ask("reduction", ask)?;
    cx.think("reduction", questions.join(" / "))?;

    for question in &questions {
        let prompt = cx.prompt(&["question"])?;
        let reply = cx.ask("question", Ask::new(format!("{prompt}: {question}")))?;
        cx.think("question", format!("{question}: {}", reply.text))?;
    }

    let ask = Ask::of::<Conclusion>(cx.prompt(&["answer"])?).answering(cx.problem());
    let Conclusion { answer } = cx.ask("answer", ask)?;
    cx.think("answer", &*answer)?;
    Ok(answer.into())
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let table: Strategy = Strategies::from_yaml(TABLE)?.get("least_to_most")?.clone();
    let client = model(ScriptedClient::new([
        "questions:\n- How long does one ride take?\n- How often can she slide before it closes?",
        "4 + 1 = 5 minutes",
        "15 / 5 = 3",
        "answer: 3 times",
    ]))?;

    let problem = "Amy climbs a slide in 4 minutes and slides down in 1. It closes in 15. How often can she slide?";
    let solved = Solver::new(client, (table, least_to_most))
        .solve(problem)
        .await?;
    for thought in solved.session().thoughts() {
        println!("{}: {}", thought.stage, thought.text);
    }
    println!("{}", solved.spent());

    Ok(())
}
