//! A batch: one text is translated into several languages, one after the other. A failed call is made again, up to
//! three times.
//!
//! ```text
//! German: Bis morgen!
//! French: À demain !
//! Spanish: ¡Hasta mañana!
//! ```

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use cogwork::llm::LlmErrorKind;
use cogwork::prelude::*;
use cogwork_quickstart::model;

// --- core ---

struct Letter {
    text: String,
    languages: Vec<String>,
    translations: Vec<String>,
}

fn translate(client: Arc<dyn LlmClient>) -> Result<Flow<Letter>, BuildError> {
    let translate = from_exec_with(client, async |client, prompt: String| {
        let request = ChatRequest::new([Message::user(prompt)]);
        let response = client.complete(request).await;
        response.map(|response| response.text().to_owned())
    })
    .retry(Backoff::fixed::<3>(Duration::from_millis(1)));

    let split = |letter: &Letter| {
        let languages = letter.languages.iter();
        let prompts = languages.map(|language| prompt(&letter.text, language));
        prompts.collect::<Vec<_>>()
    };
    let join = |letter: &mut Letter, translations| letter.translations = translations;

    Flow::builder("translate")
        .batch("translate", Batch::at_most(1, translate, split, join))
        .chain(["translate"])
        .build()
}

// --- end of the core ---

fn prompt(text: &str, language: &str) -> String {
    format!("Translate this into {language}: {text}")
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    // The second call fails, and is made again.
    let script = ScriptedClient::new(["Bis morgen!"])
        .then(LlmError::new(LlmErrorKind::Server, "try again later"))
        .then("À demain !")
        .then("¡Hasta mañana!");

    let mut letter = Letter {
        text: "See you tomorrow!".to_owned(),
        languages: ["German", "French", "Spanish"].map(str::to_owned).to_vec(),
        translations: Vec::new(),
    };
    translate(model(script)?)?.run(&mut letter).await?;

    for (language, translation) in letter.languages.iter().zip(&letter.translations) {
        println!("{language}: {translation}");
    }
    Ok(())
}
