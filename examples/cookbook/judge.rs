//! A judge that loops until the result is good: one model writes, another one gives a score and a suggestion.
//!
//! ```text
//! 3 points: Say what the tea does.
//! 6 points: Make it shorter.
//! 9 points: None.
//! good: Tea. Awake.
//! ```

use std::error::Error;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;
use serde::Deserialize;

// --- core ---

#[derive(Default)]
struct Slogan {
    product: String,
    text: String,
    verdicts: Vec<Verdict>,
}

#[derive(Deserialize, JsonSchema)]
struct Verdict {
    #[schemars(range(min = 0, max = 10))]
    score: u8,
    suggestion: String,
}

fn judged(client: Arc<dyn LlmClient>) -> Result<Flow<Slogan>, BuildError> {
    let write =
        Model::text(Arc::clone(&client)).node(writer_prompt, |slogan, text| slogan.text = text);
    let judge = Model::<Verdict>::typed(client)
        .node(judge_prompt, |slogan, verdict| {
            let is_good = verdict.score >= 8;
            slogan.verdicts.push(verdict);
            match slogan.verdicts.len() {
                _ if is_good => "good",
                ..4 => "again",
                _ => "given up",
            }
        })
        .with_actions(["good", "again", "given up"]);

    Flow::builder("judged")
        .start("write")
        .node("write", write)
        .edge("write", Action::DEFAULT, "judge")
        .node("judge", judge)
        .edge("judge", "again", "write")
        .end("judge", "good")
        .end("judge", "given up")
        .build()
}

// --- end of the core ---

fn writer_prompt(slogan: &Slogan) -> String {
    let task = format!("Write a slogan for {}.", slogan.product);
    match slogan.verdicts.last() {
        Some(verdict) => format!("{task} Not `{}`: {}", slogan.text, verdict.suggestion),
        None => task,
    }
}

fn judge_prompt(slogan: &Slogan) -> String {
    format!("Judge this slogan for {}: {}", slogan.product, slogan.text)
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "Good tea.",
        r#"{"score": 3, "suggestion": "Say what the tea does."}"#,
        "Tea that keeps you awake.",
        r#"{"score": 6, "suggestion": "Make it shorter."}"#,
        "Tea. Awake.",
        r#"{"score": 9, "suggestion": "None."}"#,
    ]))?;

    let mut state = Slogan {
        product: "tea".to_owned(),
        ..Slogan::default()
    };
    let ended = judged(client)?.run(&mut state).await?;

    for verdict in &state.verdicts {
        println!("{} points: {}", verdict.score, verdict.suggestion);
    }
    println!("{}: {}", ended.action, state.text);
    Ok(())
}
