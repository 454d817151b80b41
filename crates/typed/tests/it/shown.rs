//! Texts from models and servers are always shown safely.

#[path = "../../../text/tests/support/hostile.rs"]
pub(crate) mod hostile;

use cogwork_llm::{LlmError, LlmErrorKind, ScriptedClient};
use cogwork_typed::{AnswerReader, Model};
use hostile::{assert_error_is_safe, assert_line_is_safe, texts};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "only read")]
struct Answer {
    count: u8,
    size: Size,
}

#[derive(Debug, Deserialize, JsonSchema)]
enum Size {
    Small,
    Large,
}

#[tokio::test]
async fn nothing_unsafe_is_shown() {
    for text in texts() {
        let quoted = serde_json::Value::from(text.as_str());
        let replies = [
            text.clone(),
            format!("{{\"count\": {quoted}, \"size\": \"Small\"}}"),
            format!("{{\"count\": 1, \"size\": {quoted}}}"),
            format!("{{\"count\": 1, {quoted}: 1}}"),
            format!("{{\"count\": 1, \"count\": {quoted}}}"),
        ];

        for reply in replies {
            match AnswerReader::<Answer>::new().read(&reply) {
                Ok(read) => read
                    .repairs
                    .iter()
                    .for_each(|repair| assert_line_is_safe(repair)),
                Err(problem) => assert_line_is_safe(&problem),
            }

            let client = ScriptedClient::new([reply.as_str()]);
            let model = Model::<Answer>::typed(client).with_asks_again(0);
            if let Err(error) = model.ask("How many?").await {
                assert_line_is_safe(&error);
            }
        }

        let failed = LlmError::new(LlmErrorKind::Server, text.as_str());
        let client = ScriptedClient::new([failed]);
        if let Err(error) = Model::text(client).ask("How many?").await {
            assert_error_is_safe(&error);
        }
    }
}
