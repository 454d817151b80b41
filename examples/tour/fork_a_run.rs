//! Tries a recorded run again: from its second step with a different client, with an edited reply,
//! and with nothing changed. What comes before a fork is taken from the record, without a call.
//!
//! ```text
//! original: “Roses are red.” is fine. (2 calls)
//! original fork 1: “Roses are red.” is a cliché. (1 call)
//! original fork 2: “Rain drums on tin.” is fine. (1 call)
//! original fork 3: “Roses are red.” is fine. (0 calls)
//!
//! original fork 1 was forked from `original` at step 2
//! original fork 2 was forked from `original` at step 1, with a different outcome of `poem/write#1`
//! original fork 3 was forked from `original` at step 3
//! ```

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use cogwork::flow::engine::Journal;
use cogwork::journal::{Fork, RunJournal};
use cogwork::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct Poem {
    line: String,
    verdict: String,
}

/// A client that writes the same line for everybody, and has an opinion on lines.
struct Critic {
    opinion: &'static str,
    calls: AtomicU32,
}

impl Critic {
    fn new(opinion: &'static str) -> Arc<Self> {
        let calls = AtomicU32::new(0);
        Arc::new(Self { opinion, calls })
    }
}

#[async_trait]
impl LlmClient for Critic {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.calls.fetch_add(1, Ordering::Relaxed);
        let last = request.messages().iter().last();
        let line = last.map_or("", |message| message.text());

        let reply = match line {
            "Write a line." => "Roses are red.".to_owned(),
            line => format!("“{line}” is {}.", self.opinion),
        };
        Ok(ChatResponse::new(reply))
    }
}

async fn ask(client: Arc<Critic>, prompt: String) -> Result<String, LlmError> {
    let request = ChatRequest::new(vec![Message::user(prompt)]);
    let response = client.complete(request).await?;
    Ok(response.into_text())
}

fn poem(client: &Arc<Critic>) -> Result<Flow<Poem>, BuildError> {
    let writer = Arc::clone(client);
    let write = from_phases(
        |_: &mut Poem| "Write a line.".to_owned(),
        move |prompt| ask(Arc::clone(&writer), prompt),
        |poem, line| poem.line = line,
    );

    let judge = Arc::clone(client);
    let judge = from_phases(
        |poem: &mut Poem| poem.line.clone(),
        move |line| ask(Arc::clone(&judge), line),
        |poem, verdict| poem.verdict = verdict,
    );

    Flow::builder("poem")
        .node("write", write)
        .node("judge", judge)
        .chain(["write", "judge"])
        .build()
}

/// Executes a run with a client, and prints how it ended.
async fn finish(client: &Arc<Critic>, journal: RunJournal) -> Result<(), Box<dyn Error>> {
    let before = client.calls.load(Ordering::Relaxed);
    let run_id = journal.run_id().to_owned();
    let mut state: Poem = journal.state()?;
    let flow = poem(client)?;
    flow.begin()
        .with_journal(journal)
        .finish(&mut state)
        .await?;

    let calls = client.calls.load(Ordering::Relaxed) - before;
    let unit = if calls == 1 { "call" } else { "calls" };
    println!("{run_id}: {} ({calls} {unit})", state.verdict);
    Ok(())
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let store = Store::files(folder.path());
    let kind = Critic::new("fine");
    let strict = Critic::new("a cliché");

    let flow = poem(&kind)?;
    let journal = store.start("original", &flow, &Poem::default()).await?;
    finish(&kind, journal).await?;

    // The line comes from the record, and the other client judges it.
    let other = poem(&strict)?;
    let journal = store.fork("original", &other, Fork::at(2)).await?;
    finish(&strict, journal).await?;

    // The edited line replaces the recorded reply.
    let fork = Fork::at(1).with_outcome(&"Rain drums on tin.");
    let journal = store.fork("original", &flow, fork).await?;
    finish(&kind, journal).await?;

    let journal = store.fork("original", &flow, Fork::at_end()).await?;
    finish(&kind, journal).await?;

    println!();
    for run in store.runs().await? {
        if let Some(origin) = &run.fork {
            println!("{} was forked from {origin}", run.run_id);
        }
    }
    Ok(())
}
