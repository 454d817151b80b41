//! A server that refuses the form of the reply, over a real socket.

use cogwork_llm::OpenAiClient;
use cogwork_typed::Model;
use cogwork_typed::ask::Rung;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[path = "../server/mod.rs"]
mod server;
use server::serve;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
struct Rating {
    #[schemars(range(min = 1, max = 5))]
    stars: u8,
}

fn reply(text: &str) -> Value {
    json!({"choices": [{"message": {"content": text}, "finish_reason": "stop"}]})
}

fn refusal(message: &str) -> Value {
    json!({"error": {"message": message, "type": "invalid_request_error"}})
}

#[tokio::test]
async fn a_refused_schema_falls_down_the_ladder() {
    let (address, server) = serve(vec![
        (
            400,
            refusal("Invalid schema for response_format: 'maximum' is not permitted"),
        ),
        (400, refusal("response_format json_schema is not supported")),
        (400, refusal("response_format is not supported")),
        (200, reply("```json\n{\"stars\": \"4\"}\n```")),
    ])
    .await;
    let client = OpenAiClient::builder(format!("http://{address}/v1"), "m")
        .build()
        .unwrap();

    let answered = Model::<Rating>::typed(client)
        .with_streaming(false)
        .ask("How good is it?")
        .await
        .unwrap();

    assert_eq!(answered.value, Rating { stars: 4 });
    assert_eq!(answered.log.rung, Rung::Text);
    let rungs: Vec<Rung> = answered
        .log
        .refusals
        .iter()
        .map(|refusal| refusal.rung)
        .collect();
    assert_eq!(rungs, [Rung::Schema, Rung::FlatSchema, Rung::Json]);

    let bodies = server.await.unwrap();
    let schema = |body: &Value| body["response_format"]["json_schema"]["schema"].clone();
    assert_eq!(schema(&bodies[0])["properties"]["stars"]["maximum"], 5);
    assert!(schema(&bodies[1])["properties"]["stars"]["maximum"].is_null());
    assert_eq!(schema(&bodies[1])["additionalProperties"], false);
    assert_eq!(bodies[2]["response_format"]["type"], "json_object");
    assert!(bodies[3]["response_format"].is_null());
}

#[tokio::test]
async fn a_server_that_fails_is_an_error_with_what_was_tried() {
    let (address, _server) = serve(vec![(200, reply("no")), (401, refusal("wrong key"))]).await;
    let client = OpenAiClient::builder(format!("http://{address}/v1"), "m")
        .build()
        .unwrap();

    let error = Model::<Rating>::typed(client)
        .with_streaming(false)
        .ask("How good is it?")
        .await
        .unwrap_err();

    assert_eq!(error.tries().len(), 1);
    assert!(error.to_string().contains("wrong key"), "{error}");
}
