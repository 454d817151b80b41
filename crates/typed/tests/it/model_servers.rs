//! Typed answers on imitations of model servers, which want back what they sent.

use std::sync::Arc;

use cogwork_llm::LlmClient;
use cogwork_tools::{Tools, function};
use cogwork_typed::Model;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

#[path = "../../../llm/tests/servers/mod.rs"]
mod servers;
use servers::{ROWS, Reply};

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Height {
    metres: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Mountain {
    of: String,
}

/// With a reply in between that can't be used.
#[tokio::test]
async fn an_answer_with_a_tool_comes_from_every_server() {
    for row in ROWS {
        let call = Reply::default().thinks("OPAQUE thought");
        let call = call.calls("height", json!({"of": "Snøhetta"}));
        let unusable = Reply::says("It is high.").thinks("OPAQUE thought");
        let usable = Reply::says(r#"{"metres": 2286}"#).thinks("OPAQUE thought");
        let server = row.start(vec![call.clone(), call, unusable, usable]).await;
        let client: Arc<dyn LlmClient> = Arc::from((row.client)(server.url(), "model-1"));
        let height = function("height", "The height.", |Mountain { of }| async move {
            Ok(format!("{of}: 2286 m"))
        });

        let model = Model::<Height>::typed(client).with_tools(Tools::new().with(height).unwrap());
        let answered = model.ask("How high is Snøhetta?").await;
        let refusals = server.refusals();
        assert!(
            refusals.iter().all(|text| row.is_mended(text)),
            "{}: {refusals:?}",
            row.name
        );
        assert_eq!(
            answered.unwrap().value,
            Height { metres: 2286 },
            "{}",
            row.name
        );
    }
}
