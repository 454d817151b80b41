//! A chain of thought that calls tools. One of them needs a person's approval, so the run pauses and
//! the program ends. When it is started again with an answer, it continues in the middle of the turn,
//! and no recorded call is made again.
//!
//! ```text
//! $ cargo run --example tour -- tools_in_the_loop
//! thought 6 calls `calculate` with {"expression":"(17 + 4) * 3"}
//! thought 6: `calculate` returned: 63
//!
//! thought 7 wants to call the tool `publish` with {"answer":"63"}
//! Start this program again with `yes` or `no`.
//! $ cargo run --example tour -- tools_in_the_loop yes
//! thought 7 calls `publish` with {"answer":"63"}
//! (`63` is published)
//! thought 7: `publish` returned: https://example.org/42
//!
//! (17 + 4) * 3 = 63.
//! The tool `publish` returned https://example.org/42.
//! $ cargo run --example tour -- tools_in_the_loop
//! thought 6 calls `calculate` with {"expression":"(17 + 4) * 3"}
//! thought 6: `calculate` returned: 63
//!
//! thought 7 wants to call the tool `publish` with {"answer":"63"}
//! Start this program again with `yes` or `no`.
//! $ cargo run --example tour -- tools_in_the_loop no
//! thought 7: `publish` failed: refused by a person
//!
//! (17 + 4) * 3 = 63.
//! The tool `publish` failed: refused by a person.
//! ```

use std::env;
use std::error::Error;
use std::fs;

use cogwork::cot::{ChainOfThought, Reasoning, ReasoningEvent};
use cogwork::flow::{Flow, Paused, Proceeded};
use cogwork::journal::Store;
use cogwork::tools::schemars::{self, JsonSchema};
use cogwork::tools::{ToolApproval, ToolError, Tools, function};
use cogwork_quickstart::{RuleBasedClient, calculate, model};
use serde::Deserialize;

const RUN: &str = "sum-42";
const PROBLEM: &str = "What is (17 + 4) * 3?";

#[derive(Deserialize, JsonSchema)]
struct Expression {
    /// What to calculate, such as `2 * (3 + 4)`.
    expression: String,
}

#[derive(Deserialize, JsonSchema)]
struct Answer {
    /// The text to publish.
    answer: String,
}

fn tools() -> Result<Tools, ToolError> {
    let calculate = function(
        "calculate",
        "Calculates an expression.",
        |Expression { expression }| async move { calculate(&expression).map_err(ToolError::failed) },
    );
    let publish = function(
        "publish",
        "Publishes an answer.",
        |Answer { answer }| async move {
            println!("(`{answer}` is published)");
            Ok("https://example.org/42".to_owned())
        },
    );

    Tools::new().with(calculate)?.with(publish)
}

fn print_calls(event: &ReasoningEvent) {
    match event {
        ReasoningEvent::ToolCall {
            thought,
            name,
            input,
        } => println!("thought {thought} calls `{name}` with {input}"),
        ReasoningEvent::ToolResult {
            thought,
            name,
            output,
            failed,
            ..
        } => {
            let outcome = if *failed { "failed" } else { "returned" };
            println!("thought {thought}: `{name}` {outcome}: {output}");
        }
        _ => {}
    }
}

fn flow() -> Result<Flow<Reasoning>, Box<dyn Error>> {
    let node = ChainOfThought::new(model(RuleBasedClient::new())?)
        .with_tools(tools()?.with_approval(["publish"])?)
        .with_reporter(print_calls);

    Ok(node.into_flow())
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::temp_dir().join("cogwork-tools-in-the-loop");
    let store = Store::files(&folder);
    let flow = flow()?;

    let journal = store
        .start_or_resume(RUN, &flow, &Reasoning::new(PROBLEM))
        .await?;
    let mut reasoning: Reasoning = journal.state()?;
    let mut run = flow.begin().with_journal(journal);

    let mut proceeded = run.proceed(&mut reasoning).await?;
    if let Some(answer) = answer()? {
        let Proceeded::Paused(paused) = proceeded else {
            return Err("the run doesn't wait".into());
        };
        run.deliver(&paused.event, &answer).await?;
        proceeded = run.proceed(&mut reasoning).await?;
    }
    drop(run);

    match proceeded {
        Proceeded::Ended(_) => {
            println!("\n{}", reasoning.solution().unwrap_or("no answer"));

            // Once the record is deleted, the next start begins a new run.
            fs::remove_dir_all(&folder)?;
        }
        Proceeded::Paused(paused) => show(&paused),
    }

    Ok(())
}

/// Returns the answer on the command line.
fn answer() -> Result<Option<ToolApproval>, String> {
    let arguments: Vec<String> = env::args().skip(2).collect();
    match arguments.join(" ").as_str() {
        "" => Ok(None),
        "yes" => Ok(Some(ToolApproval::approved())),
        "no" => Ok(Some(ToolApproval::refused())),
        other => Err(format!("`{other}` is no answer: expected `yes` or `no`")),
    }
}

fn show(paused: &Paused) {
    println!("\n{}", paused.why);
    println!("Start this program again with `yes` or `no`.");
}
