//! A workflow: an outline is made, its sections are written concurrently, and the article gets its style.
//!
//! ```text
//! Why tea: Tea keeps awake without haste.
//! How to brew it: Three minutes are enough.
//! What to eat with it: Nothing goes better with it than bread and butter.
//!
//! Awake, but without haste: three minutes, bread and butter, and the day may come.
//! (3 steps)
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cogwork::prelude::*;
use cogwork_quickstart::model;

// --- core ---

#[derive(Default)]
struct Article {
    topic: String,
    sections: Vec<String>,
    drafts: Vec<String>,
    text: String,
}

type Client = Arc<dyn LlmClient>;

async fn ask(client: Client, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new([Message::user(prompt)]);
    Ok(client.complete(request).await?.text().to_owned())
}

fn article(client: &Client) -> Result<Flow<Article>, BuildError> {
    let outline = from_phases_with(
        client.clone(),
        |article: &mut Article| outline_prompt(&article.topic),
        ask,
        |article, reply| article.sections = reply.lines().map(str::to_owned).collect(),
    )
    .retry(Backoff::fixed::<3>(Duration::from_secs(1)));

    let section = from_exec_with(client.clone(), async |client, section: String| {
        ask(client, section_prompt(&section)).await
    });
    let write = Batch::at_most(
        3,
        section,
        |article: &Article| article.sections.clone(),
        |article, drafts| article.drafts = drafts,
    );

    let style = from_phases_with(
        client.clone(),
        |article: &mut Article| style_prompt(&article.drafts.join("\n")),
        ask,
        |article, text| article.text = text,
    );

    Flow::builder("article")
        .node("outline", outline)
        .batch("write", write)
        .node("style", style)
        .chain(["outline", "write", "style"])
        .build()
}

// --- end of the core ---

fn outline_prompt(topic: &str) -> String {
    format!("List three sections of an article about {topic}, one a line.")
}

fn section_prompt(section: &str) -> String {
    format!("Write one sentence for the section `{section}`.")
}

fn style_prompt(text: &str) -> String {
    format!("Rewrite this for a daily newspaper:\n{text}")
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "Why tea\nHow to brew it\nWhat to eat with it",
        "Tea keeps awake without haste.",
        "Three minutes are enough.",
        "Nothing goes better with it than bread and butter.",
        "Awake, but without haste: three minutes, bread and butter, and the day may come.",
    ]))?;

    let mut state = Article {
        topic: "tea".to_owned(),
        ..Article::default()
    };
    let ended = article(&client)?.run(&mut state).await?;

    for (section, draft) in state.sections.iter().zip(&state.drafts) {
        println!("{section}: {draft}");
    }
    println!("\n{}\n({} steps)", state.text, ended.steps);
    Ok(())
}
