use std::sync::Arc;

use async_trait::async_trait;
use cogwork_llm::LlmClient;
use schemars::JsonSchema;
use serde::Deserialize;

use super::{ask, is_just, some};
use crate::{Draft, Hooks, OnFailure, ThinkingError, ThinkingMode};

/// Shows the model its own draft, and replaces the draft by the reply.
///
/// The draft is appended to the conversation as the assistant's message, followed by the prompt as
/// a user message. Reflection ends when the reply equals the draft, is the
/// [verdict](Self::verdict), or gives the draft the required [score](Self::score). The
/// report contains all drafts. If a round fails, the draft of the previous round is kept.
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
#[derive(Clone, Deserialize, JsonSchema)]
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
    /// The score from 0 to 10 at which the draft is accepted. The prompt requests a score.
    #[serde(default)]
    #[schemars(range(min = 0, max = 10))]
    pub score: Option<f32>,
    /// What happens if a call fails, or its reply is empty or truncated.
    #[serde(default)]
    pub on_failure: OnFailure,
    /// The client that reflects. The default is the client that made the draft.
    #[serde(skip)]
    pub reflector: Option<Arc<dyn LlmClient>>,
}

fn one() -> u32 {
    1
}

impl Reflection {
    /// Creates a reflection with one round and this prompt.
    pub fn new(reflection_prompt: impl Into<String>) -> Self {
        Self {
            reflection_prompt: reflection_prompt.into(),
            rounds: one(),
            verdict: None,
            score: None,
            on_failure: OnFailure::default(),
            reflector: None,
        }
    }

    fn prompt(&self) -> String {
        let score = self.score.map(|_| {
            "Begin with the line `Score: N`: a number from 0 to 10 for your answer as it stands. Then give the \
             improved answer."
                .to_owned()
        });

        let verdict = self.verdict.as_ref().map(|word| {
            format!("If your answer needs no change, reply with {word} and nothing else.")
        });
        let parts = [
            Some(self.reflection_prompt.trim_end().to_owned()),
            score,
            verdict,
        ];

        parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n")
    }

    /// Returns the improved text, or `None` if the draft is accepted.
    fn better(&self, reply: &str) -> Result<Option<String>, ThinkingError> {
        if self
            .verdict
            .as_ref()
            .is_some_and(|word| is_just(reply, word))
        {
            return Ok(None);
        }

        let Some(least) = self.score else {
            return Ok(Some(reply.to_owned()));
        };

        let (first, rest) = reply.trim_start().split_once('\n').unwrap_or((reply, ""));
        let score = score(first)
            .ok_or_else(|| ThinkingError::unexpected(first, "a first line `Score: N`"))?;
        match rest.trim() {
            _ if score >= least => Ok(None),
            "" => Err(ThinkingError::Empty),
            text => Ok(Some(text.to_owned())),
        }
    }
}

/// Returns the score in a line such as `**Score:** 7.5/10`.
fn score(line: &str) -> Option<f32> {
    let line = line.to_lowercase();
    let (_, behind) = line.split_once("score")?;
    let number = behind
        .trim_start_matches(|character: char| !character.is_ascii_digit() && character != '-');
    let end =
        number.find(|character: char| !(character.is_ascii_digit() || ".-".contains(character)));
    let number = number
        .get(..end.unwrap_or(number.len()))?
        .trim_end_matches('.');

    number
        .parse()
        .ok()
        .filter(|score| (0.0..=10.0).contains(score))
}

#[async_trait]
impl ThinkingMode for Reflection {
    fn name(&self) -> &str {
        "reflection"
    }

    fn hooks(&self) -> Hooks {
        Hooks::After
    }

    fn on_failure(&self) -> OnFailure {
        self.on_failure
    }

    async fn after(&self, draft: &mut Draft<'_>) -> Result<(), ThinkingError> {
        some(draft)?;
        let prompt = self.prompt();

        for _ in 0..self.rounds.clamp(1, 16) {
            let request = draft.answering(draft.conversation(&prompt));
            let reply = ask(draft, self.reflector.as_ref(), request).await?;
            match self.better(reply.text())? {
                Some(text) if text.trim() != draft.text().trim() => draft.set_text(text),
                _ => break,
            }
        }

        Ok(())
    }
}
