use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{is_just, one, some};
use crate::{Draft, Hook, ThinkingError, ThinkingMode};

/// Shows the model its own draft, and replaces the draft by the reply.
///
/// The draft is appended to the conversation as the assistant's message, followed by the prompt as
/// a user message. Reflection ends when the reply equals the draft or is the
/// [verdict](Self::verdict). The report contains all drafts. If a round fails, the draft of the
/// previous round is kept.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
/// use cogwork_thinking::{Reflection, Thinking};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["The sum is 41.", "The sum is 42.", "FINE"]);
/// let reflection = Reflection {
///     rounds: 3,
///     verdict: Some("FINE".to_owned()),
///     ..Reflection::new("Calculate again. Then give the answer.")
/// };
/// let client = Thinking::new(script.clone()).with_mode(reflection);
///
/// let response = client.complete(ChatRequest::new([Message::user("What is 19 + 23?")])).await?;
/// assert_eq!(response.text(), "The sum is 42.");
/// assert_eq!(script.requests().len(), 3);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Reflection {
    /// What the model should look for in its draft, and that it should reply with the whole
    /// improved draft.
    #[schemars(length(min = 1, max = 32768))]
    pub reflection_prompt: String,
    /// The maximum number of rounds.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 16))]
    pub rounds: u32,
    /// The word with which the model accepts the draft. The prompt mentions it.
    #[serde(default)]
    #[schemars(length(min = 1, max = 100))]
    pub verdict: Option<String>,
}

impl Reflection {
    /// Creates a reflection with one round and this prompt.
    pub fn new(reflection_prompt: impl Into<String>) -> Self {
        Self {
            reflection_prompt: reflection_prompt.into(),
            rounds: one(),
            verdict: None,
        }
    }

    fn prompt(&self) -> String {
        let prompt = self.reflection_prompt.trim_end();
        match &self.verdict {
            None => prompt.to_owned(),
            Some(word) => format!(
                "{prompt}\n\nIf your answer needs no change, reply with {word} and nothing else."
            ),
        }
    }
}

#[async_trait]
impl ThinkingMode for Reflection {
    fn name(&self) -> &str {
        "reflection"
    }

    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        some(draft)?;
        let prompt = self.prompt();

        for _ in 0..self.rounds.clamp(1, 16) {
            let request = draft.answering(draft.conversation(&prompt));
            let reply = draft.ask(request).await?;

            let verdict = self.verdict.as_ref();
            // Both mean that the model has found nothing to improve.
            let is_accepted = verdict.is_some_and(|word| is_just(reply.text(), word));
            if is_accepted || reply.text().trim() == draft.text().trim() {
                break;
            }
            draft.set_text(reply.into_text());
        }

        Ok(())
    }
}
