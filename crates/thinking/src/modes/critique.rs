use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{is_just, one, some};
use crate::{Draft, Hook, ThinkingError, ThinkingMode};

const ALL_MET: &str = "ALL MET";

/// Judges the draft against criteria one by one, and revises it if one isn't met.
///
/// A round takes two calls. If all criteria are met, it takes one call and ends the critique.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
/// use cogwork_thinking::{Critique, Thinking};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["It is far.", "1: not met, there is no number.", "It is 42 km."]);
/// let client = Thinking::new(script).with_mode(Critique::new(["It names a number.", "It is one sentence."]));
/// let response = client.complete(ChatRequest::new([Message::user("How far is it?")])).await?;
/// assert_eq!(response.text(), "It is 42 km.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Critique {
    /// The criteria for the answer.
    #[schemars(length(min = 1, max = 32), inner(length(min = 1, max = 2000)))]
    pub criteria: Vec<String>,
    /// The maximum number of rounds.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 8))]
    pub rounds: u32,
}

impl Critique {
    /// Creates a critique with one round and at most 32 criteria; further ones are ignored.
    pub fn new<T: Into<String>>(criteria: impl IntoIterator<Item = T>) -> Self {
        let criteria = criteria.into_iter().take(32).map(Into::into).collect();
        Self {
            criteria,
            rounds: one(),
        }
    }

    fn prompt(&self) -> String {
        let criteria = self.criteria.iter().enumerate();
        let criteria: Vec<_> = criteria
            .map(|(index, text)| format!("{}. {text}", index + 1))
            .collect();
        format!(
            "Judge your answer by each of these criteria:\n{}\n\nFor each that is not met, write a line with its \
             number and why. Do not write a new answer yet. If all are met, reply with {ALL_MET} and nothing else.",
            criteria.join("\n"),
        )
    }
}

#[async_trait]
impl ThinkingMode for Critique {
    fn name(&self) -> &str {
        "critique"
    }

    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        some(draft)?;
        let prompt = self.prompt();

        for _ in 0..self.rounds.clamp(1, 8) {
            // Judged as free text, because the answer may have a format that criticism doesn't fit.
            let judging = draft.aside(draft.conversation(&prompt));
            let found = draft.ask(judging).await?;
            if is_just(found.text(), ALL_MET) {
                break;
            }

            let prompt = format!(
                "A reviewer found in your answer:\n{}\n\nRevise it accordingly. Reply with the whole answer and nothing else.",
                found.text().trim(),
            );
            let revising = draft.answering(draft.conversation(&prompt));
            let revised = draft.ask(revising).await?;
            // The model insists on its answer, and would be judged the same again.
            if revised.text().trim() == draft.text().trim() {
                break;
            }

            draft.set_text(revised.into_text());
        }

        Ok(())
    }
}
