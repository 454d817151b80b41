use std::collections::BTreeSet;

use async_trait::async_trait;
use futures_util::future::join_all;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Draft, Hook, ThinkingError, ThinkingMode};

const PROMPT: &str = "Which of these answers is the best: right, complete and clear?";

/// Requests several answers concurrently, and lets a judge choose the best. The draft is the first
/// candidate.
///
/// A candidate that fails is left out and reported; equal candidates count once. If only one is
/// left, the judge isn't called. If the request has a seed, each candidate gets the next one.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
/// use cogwork_thinking::{BestOf, Thinking};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["Maybe.", "Yes.", "Yes, at noon.", "3"]);
/// let client = Thinking::new(script).with_mode(BestOf::new(3));
/// let response = client.complete(ChatRequest::new([Message::user("Does it open?")])).await?;
/// assert_eq!(response.text(), "Yes, at noon.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BestOf {
    /// The number of candidates, including the draft.
    #[schemars(range(min = 2, max = 16))]
    pub candidates: usize,
    /// The sampling temperature of the other candidates. The default is that of the draft.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f32>,
    /// The criterion of the judge.
    #[schemars(length(min = 1, max = 32768))]
    pub judge_prompt: String,
}

impl Default for BestOf {
    fn default() -> Self {
        Self {
            candidates: 3,
            temperature: None,
            judge_prompt: PROMPT.to_owned(),
        }
    }
}

impl BestOf {
    /// Creates a mode with this number of candidates, from 2 to 16, including the draft.
    pub fn new(candidates: usize) -> Self {
        Self {
            candidates,
            ..Self::default()
        }
    }

    async fn candidate(&self, draft: &Draft, number: u64) -> Result<String, ThinkingError> {
        let mut request = draft.answering(draft.request().messages().clone());
        if let Some(temperature) = self.temperature {
            request = request.with_temperature(temperature);
        }

        // With the same seed, all candidates would be the same.
        if let Some(seed) = request.seed() {
            request = request.with_seed(seed.wrapping_add(number));
        }

        Ok(draft.ask(request).await?.into_text())
    }

    /// Returns the index of the best candidate.
    async fn judge(&self, draft: &Draft, candidates: &[String]) -> Result<usize, ThinkingError> {
        // No candidate may close the block that contains it.
        let numbered = candidates
            .iter()
            .map(|text| text.replace("</answer", "< /answer"))
            .enumerate();
        let numbered: Vec<_> = numbered
            .map(|(index, text)| format!("<answer number=\"{0}\">\n{text}\n</answer>", index + 1))
            .collect();
        let prompt = format!(
            "Several answers were given to this:\n\n{}\n\n{}\nReply with its number and nothing else.",
            numbered.join("\n"),
            self.judge_prompt.trim(),
        );

        // Appended to the conversation without a draft, because none of the candidates is the
        // judge's own.
        let request = draft.aside(draft.without_draft(&prompt));
        let reply = draft.ask(request).await?;
        let numbers = reply
            .text()
            .split(|character: char| !character.is_ascii_digit());
        let numbers: BTreeSet<usize> = numbers.filter_map(|number| number.parse().ok()).collect();

        // A reply that names several candidates has chosen none.
        match numbers.first() {
            Some(number) if numbers.len() == 1 && (1..=candidates.len()).contains(number) => {
                Ok(number - 1)
            }
            _ => {
                let expected = format!("one number from 1 to {}", candidates.len());
                Err(ThinkingError::unexpected(reply.text(), &expected))
            }
        }
    }
}

#[async_trait]
impl ThinkingMode for BestOf {
    fn name(&self) -> &str {
        "best_of"
    }

    fn hooks(&self) -> &[Hook] {
        &[Hook::After]
    }

    async fn after(&self, draft: &mut Draft) -> Result<(), ThinkingError> {
        let others =
            (1..self.candidates.clamp(2, 16) as u64).map(|number| self.candidate(draft, number));
        let mut candidates = vec![draft.text().to_owned()];
        // The others may be better than an empty draft.
        candidates.retain(|text| !text.trim().is_empty());

        // At the same time, since a hook has a limit on time.
        for other in join_all(others).await {
            match other {
                Ok(text) => {
                    draft.consider(text.as_str());
                    if !candidates
                        .iter()
                        .any(|candidate| candidate.trim() == text.trim())
                    {
                        candidates.push(text);
                    }
                }
                Err(error) => draft.report(&error),
            }
        }

        let best = match candidates.len() {
            0 | 1 => 0,
            _ => self.judge(draft, &candidates).await?,
        };

        let best = candidates.into_iter().nth(best);
        let best = best.ok_or_else(|| ThinkingError::new("there is no answer to choose from"))?;
        draft.set_text(best);
        Ok(())
    }
}
