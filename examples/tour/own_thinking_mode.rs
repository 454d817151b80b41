//! A custom thinking mode: it asks again for an answer that is too long, and is built by its name from
//! settings, as in a file.
//!
//! ```text
//! at_most       Asks again for an answer that is too long
//! best_of       A judge picks the best of several answers
//! critique      The model judges its draft against criteria and revises it
//! plan_first    The model plans its answer first
//! reflection    The model reflects on its draft and improves it
//! verification  Facts in the draft are verified by independent questions
//!
//! `type`: unknown thinking mode `at_must`; expected `at_most`, `best_of`, `critique`, `plan_first`, `reflection` or `verification`
//!
//! `config.word`: unknown field `word`, expected `words`
//!
//! draft: Well, if you ask me, I should say that the ferry leaves at noon.
//! draft: I should say that the ferry leaves at noon.
//! draft: the ferry leaves at noon.
//! after at_most: replaced (2 calls, about 99 tokens)
//! 3 drafts, 3 calls, about 122 tokens
//! answer: the ferry leaves at noon.
//! ```

use std::error::Error;

use cogwork::llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Message, async_trait};
use cogwork::thinking::{Draft, Hook, Registry, Thinking, ThinkingError, ThinkingMode};
use schemars::JsonSchema;
use serde::Deserialize;

/// The mode, which is also the type of its settings.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AtMost {
    /// The maximum number of words of an answer.
    #[schemars(range(min = 1))]
    words: usize,
}

#[async_trait]
impl ThinkingMode for AtMost {
    fn name(&self) -> &str {
        "at_most"
    }

    // Without this, streamed replies would be held back for a hook that doesn't exist.
    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        for _ in 0..3 {
            let count = draft.text().split_whitespace().count();
            if count <= self.words {
                break;
            }

            let most = self.words;
            draft
                .try_again(&format!("These are {count} words. Use at most {most}."))
                .await?;
        }

        Ok(())
    }
}

/// A model whose answers get shorter each time it is asked.
struct Wordy;

#[async_trait]
impl LlmClient for Wordy {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        let asked = request
            .messages()
            .iter()
            .filter(|message| message.text().contains("at most"))
            .count();

        let said = [
            "Well, if you ask me,",
            "I should say that",
            "the ferry leaves at noon.",
        ];

        Ok(ChatResponse::new(
            said.into_iter().skip(asked).collect::<Vec<_>>().join(" "),
        ))
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let mut registry = Registry::with_built_in();
    registry.register::<AtMost, AtMost>(
        "at_most",
        "Asks again for an answer that is too long",
        Ok,
    )?;

    for (name, mode) in registry.iter() {
        println!("{name:12}  {}", mode.summary);
    }
    println!();

    for (name, settings) in [("at_must", "{}"), ("at_most", r#"{"word": 6}"#)] {
        if let Err(error) = registry.build(name, &serde_json::from_str(settings)?) {
            println!("{error}\n");
        }
    }

    let mode = registry.build("at_most", &serde_json::json!({"words": 6}))?;
    let client = Thinking::new(Wordy).with_mode(mode);
    let generation = client
        .generate(ChatRequest::new([Message::user(
            "When does the ferry leave?",
        )]))
        .await?;

    for draft in &generation.report.drafts {
        println!("draft: {}", draft.text);
    }

    println!(
        "{}\nanswer: {}",
        generation.report,
        generation.response.text()
    );

    Ok(())
}
