//! Map-reduce: a model judges each application on its own, and one call summarises the judgements.
//!
//! ```text
//! Ada: yes, four years in a bakery
//! Grace: no, has never baked
//! Edsger: yes, won a prize for bread
//!
//! Ada and Edsger should be invited.
//! ```

use std::error::Error;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;
use serde::{Deserialize, Serialize};

// --- core ---

#[derive(Clone, Serialize, Deserialize)]
struct Application {
    name: String,
    text: String,
}

struct Hiring {
    applications: Vec<Application>,
    judgements: Vec<String>,
    summary: String,
}

type Client = Arc<dyn LlmClient>;

async fn ask(client: Client, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(prompt)]);
    Ok(client.complete(request).await?.text().to_owned())
}

fn hiring(client: &Client) -> Result<Flow<Hiring>, BuildError> {
    let judge = from_exec_with(client.clone(), async |client, one: Application| {
        let reply = ask(client, judge_prompt(&one.text)).await?;
        Ok::<_, LlmError>(format!("{}: {reply}", one.name))
    });
    let map = Batch::at_most(
        4,
        judge,
        |hiring: &Hiring| hiring.applications.clone(),
        |hiring, judgements| hiring.judgements = judgements,
    );
    let reduce = from_phases_with(
        client.clone(),
        |hiring: &mut Hiring| summary_prompt(&hiring.judgements.join("\n")),
        ask,
        |hiring, summary| hiring.summary = summary,
    );

    Flow::builder("hiring")
        .batch("map", map)
        .node("reduce", reduce)
        .chain(["map", "reduce"])
        .build()
}

// --- end of the core ---

fn judge_prompt(text: &str) -> String {
    format!("Does this person qualify as a baker? Answer yes or no, and give the reason.\n{text}")
}

fn summary_prompt(judgements: &str) -> String {
    format!("Who should be invited? Answer in one sentence.\n{judgements}")
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "yes, four years in a bakery",
        "no, has never baked",
        "yes, won a prize for bread",
        "Ada and Edsger should be invited.",
    ]))?;

    let application = |(name, text): (&str, &str)| Application {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let applications = [
        ("Ada", "Four years at the mill bakery."),
        ("Grace", "Drove a taxi, likes cake."),
        ("Edsger", "Won the prize for rye bread in 2021."),
    ];
    let mut state = Hiring {
        applications: applications.map(application).to_vec(),
        judgements: Vec::new(),
        summary: String::new(),
    };
    hiring(&client)?.run(&mut state).await?;

    println!("{}\n\n{}", state.judgements.join("\n"), state.summary);
    Ok(())
}
