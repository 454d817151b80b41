use async_trait::async_trait;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::{Draft, Hook, ThinkingError, ThinkingMode};

const PROMPT: &str = "Do not answer yet. Write a short plan first: the steps that lead to a good answer, one per line.";

/// Makes a plan before the answer and appends it to the user's message.
///
/// ```
/// use cogwork_llm::{ChatRequest, LlmClient, LlmError, Message, ScriptedClient};
/// use cogwork_thinking::{PlanFirst, Thinking};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), LlmError> {
/// let script = ScriptedClient::new(["1. Square 7.\n2. Add 1.", "50"]);
/// let client = Thinking::new(script.clone()).with_mode(PlanFirst::default());
/// client.complete(ChatRequest::new([Message::user("What is 7 * 7 + 1?")])).await?;
///
/// let asked = script.requests()[1].messages().last().map(|message| message.text().to_owned());
/// assert_eq!(asked.unwrap(), "What is 7 * 7 + 1?\n\nFollow this plan:\n1. Square 7.\n2. Add 1.");
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct PlanFirst {
    /// The prompt for the plan.
    #[schemars(length(min = 1, max = 32768))]
    pub plan_prompt: String,
}

impl Default for PlanFirst {
    fn default() -> Self {
        Self {
            plan_prompt: PROMPT.to_owned(),
        }
    }
}

#[async_trait]
impl ThinkingMode for PlanFirst {
    fn name(&self) -> &str {
        "plan_first"
    }

    fn hooks(&self) -> &[Hook] {
        &[Hook::Before]
    }

    async fn before(&self, input: &mut Draft) -> Result<(), ThinkingError> {
        // The plan is for the model, so it has no format.
        let request = input.aside(input.conversation(&self.plan_prompt));
        let plan = input.ask(request).await?;

        input.append(&format!("Follow this plan:\n{}", plan.text().trim()));
        Ok(())
    }
}
