//! The only tool of a strategy that needs tools, on a server without any.

use cogwork_llm::{ChatRequest, LlmClient, Message, ToolDefinition};
use cogwork_tools::{Tool, ToolError, Tools, async_trait};
use serde_json::Value;

const DESCRIPTION: &str =
    "Answers a question on its own, from general knowledge. It sees nothing but the question.";

const INPUT: &str = r#"{"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]}"#;

/// Asks a model one question without the rest of the conversation.
struct Ask<C>(C);

/// Returns tools that consist of a question to this model.
pub(super) fn asking(client: impl LlmClient + 'static) -> Tools {
    // A set of one tool has no duplicates.
    Tools::new().with(Ask(client)).unwrap_or_default()
}

#[async_trait]
impl<C: LlmClient> Tool for Ask<C> {
    fn definition(&self) -> ToolDefinition {
        ToolDefinition::new("ask", DESCRIPTION, INPUT)
    }

    async fn call(&self, input: Value) -> Result<String, ToolError> {
        let question = input.get("question").and_then(Value::as_str);
        let question = question.filter(|question| !question.trim().is_empty());
        let question = question.ok_or_else(|| ToolError::input("expected a text in `question`"))?;

        let request = ChatRequest::new([Message::user(question)]);
        let response = self.0.complete(request).await.map_err(ToolError::failed)?;
        Ok(response.into_text())
    }
}
