//! Retrieval over a folder of texts: the passages most similar to a question go into the prompt, with their sources. If
//! there are none, the model isn't asked.
//!
//! ```text
//! 3 files: 3 indexed (6 passages), 0 unchanged, 0 skipped; 0 removed
//!
//! When does the kitchen close?
//! The kitchen closes at six (office.md).
//!   0.33 office.md:1
//!
//! When do I hand in receipts for a hotel?
//! Within thirty days (travel.md).
//!   0.27 travel.md:5
//!
//! Which planet has rings?
//! (not in the handbook)
//! ```
//!
//! The embedder needs no model, but it only finds words that are spelled alike. For real models, change the client and
//! the embedder in `main`.

use std::error::Error;
use std::sync::Arc;

use cogwork::llm::embedding::HashedNgrams;
use cogwork::prelude::*;
use cogwork::recall::{Indexer, Query, Recalled, VectorMemory};
use cogwork_quickstart::model;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/handbook");

// --- core ---

struct Question {
    text: String,
    found: Vec<Recalled>,
    answer: String,
}

fn handbook(
    client: Arc<dyn LlmClient>,
    memory: &VectorMemory,
) -> Result<Flow<Question>, BuildError> {
    let query = |question: &mut Question| {
        let query = Query::new(&question.text);
        query.with_limit(2).with_min_score(0.2)
    };
    let retrieve = from_phases_with(
        memory.clone(),
        query,
        async |memory: VectorMemory, query: Query| memory.recall(&query).await,
        |question: &mut Question, found| {
            question.found = found;
            if question.found.is_empty() {
                "nothing"
            } else {
                "found"
            }
        },
    );
    let answer = Model::text(client).node(prompt, |question, answer| question.answer = answer);

    Flow::builder("handbook")
        .start("retrieve")
        .node("retrieve", retrieve.with_actions(["found", "nothing"]))
        .node("answer", answer)
        .edge("retrieve", "found", "answer")
        .end("retrieve", "nothing")
        .end("answer", Action::DEFAULT)
        .build()
}

// --- end of the core ---

fn prompt(question: &Question) -> String {
    let passages = question.found.iter().map(|passage| {
        let Recalled { source, text, .. } = passage;
        format!("From {source}:\n{text}\n\n")
    });
    let passages: String = passages.collect();

    format!(
        "{passages}Answer with these texts only, and name the file: {}",
        question.text
    )
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "The kitchen closes at six (office.md).",
        "Within thirty days (travel.md).",
    ]))?;
    // With a real model: OpenAiEmbedder::from_env()?, and VectorMemory::open with a file, so that only changes are
    // embedded again.
    let memory = VectorMemory::in_memory(HashedNgrams::new())?;
    let indexer = Indexer::new(&memory).with_passage_bytes(300);
    println!("{}", indexer.index(FOLDER).await?);

    let flow = handbook(client, &memory)?;
    let questions = [
        "When does the kitchen close?",
        "When do I hand in receipts for a hotel?",
        "Which planet has rings?",
    ];
    for text in questions {
        let mut question = Question {
            text: text.to_owned(),
            found: Vec::new(),
            answer: "(not in the handbook)".to_owned(),
        };
        flow.run(&mut question).await?;

        println!("\n{text}\n{}", question.answer);
        for passage in question.found {
            println!("  {:.2} {}:{}", passage.score, passage.source, passage.line);
        }
    }
    Ok(())
}
