use cogwork_llm::{
    ChatRequest, ChatResponse, LlmClient, LlmError, LlmErrorKind, Message, async_trait,
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::offline::Reply;
use crate::names::NameList;

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Rules {
    /// The rules, in order: the first that fits answers.
    rules: Vec<Rule>,
    /// The reply where no rule fits. Default: none; the call is an error then.
    r#else: Option<Reply>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Rule {
    /// A text that the last message of the request contains, in this spelling.
    when: String,
    /// The reply.
    reply: Reply,
}

#[async_trait]
impl LlmClient for Rules {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        // The role and earlier replies may contain the words, too.
        let asked = request.messages().last().map_or("", Message::text);
        let fits = self
            .rules
            .iter()
            .find(|rule| asked.contains(&rule.when))
            .map(|rule| &rule.reply);

        match fits.or(self.r#else.as_ref()) {
            Some(reply) => Ok(reply.response()),
            None => {
                let known = NameList::or(self.rules.iter().map(|rule| &rule.when));
                let message = format!(
                    "no rule fits the last message, and there is no `else`; expected {known} in it"
                );
                Err(LlmError::new(LlmErrorKind::Other, message))
            }
        }
    }
}
