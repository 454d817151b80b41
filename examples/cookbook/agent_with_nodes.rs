//! An agent built from nodes: a model decides whether to search or to answer, and each decision is an edge of the flow.
//!
//! ```text
//! found: The Eiffel Tower was designed by Maurice Koechlin.
//! found: Maurice Koechlin was born in 1856.
//! He was born in 1856. (5 steps)
//! ```
//!
//! The pattern `agent` is a ready-made agent.

use std::error::Error;

use cogwork::prelude::*;
use cogwork_quickstart::model;
use serde::Deserialize;

// --- core ---

#[derive(Default)]
struct Research {
    question: String,
    title: String,
    found: Vec<String>,
    answer: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Decision {
    /// Search for an article with this title.
    Search { title: String },
    /// Answer the question.
    Answer { text: String },
}

fn researcher(client: impl LlmClient + 'static) -> Result<Flow<Research>, BuildError> {
    let decide = Model::<Decision>::typed(client)
        .node(
            |research: &Research| prompt(&research.question, &research.found),
            |research, decision| match decision {
                Decision::Search { title } => {
                    research.title = title;
                    "search"
                }
                Decision::Answer { text } => {
                    research.answer = text;
                    "done"
                }
            },
        )
        .with_actions(["search", "done"]);

    let search = from_fn(|research: &mut Research| {
        research.found.push(article(&research.title));
    });

    Flow::builder("researcher")
        .start("decide")
        .node("decide", decide)
        .edge("decide", "search", "search")
        .end("decide", "done")
        .node("search", search)
        .edge("search", Action::DEFAULT, "decide")
        .build()
}

// --- end of the core ---

fn prompt(question: &str, found: &[String]) -> String {
    format!("{question}\nUse only what was found:\n{}", found.join("\n"))
}

fn article(title: &str) -> String {
    match title {
        "Eiffel Tower" => "The Eiffel Tower was designed by Maurice Koechlin.".to_owned(),
        "Maurice Koechlin" => "Maurice Koechlin was born in 1856.".to_owned(),
        _ => format!("There is no article `{title}`."),
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        r#"{"answer": {"search": {"title": "Eiffel Tower"}}}"#,
        r#"{"answer": {"search": {"title": "Maurice Koechlin"}}}"#,
        r#"{"answer": {"answer": {"text": "He was born in 1856."}}}"#,
    ]))?;

    let mut state = Research {
        question: "When was the designer of the Eiffel Tower born?".to_owned(),
        ..Research::default()
    };
    let flow = researcher(client)?;
    let ended = flow.begin().with_max_steps(20).finish(&mut state).await?;

    for found in &state.found {
        println!("found: {found}");
    }
    println!("{} ({} steps)", state.answer, ended.steps);
    Ok(())
}
