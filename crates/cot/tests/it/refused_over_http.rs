//! A server that does not take the form it is asked for, over a real socket.
#![cfg(feature = "http")]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_cot::{
    AnthropicClient, ChainOfThought, LlmClient, OllamaClient, OpenAiClient, Reasoning,
};
use serde_json::{Value, json};

const REPLY: &str = r#"{"current_thinking":"2 + 2 = 4.","planning":[{"description":"Add","status":"Done","result":"4","mark":null}],"next_thought_needed":false}"#;

#[path = "../../../typed/tests/server/mod.rs"]
mod server;
use server::serve;

async fn run(client: impl LlmClient + 'static) -> Reasoning {
    let mut reasoning = Reasoning::new("What is 2 + 2?");
    let node = ChainOfThought::new(client).with_streaming(false);
    node.into_flow().run(&mut reasoning).await.unwrap();
    assert_eq!(reasoning.answer(), Some("4"));
    assert!(reasoning.thoughts()[0].trace().repairs.is_empty());

    reasoning
}

fn refused(reasoning: &Reasoning) -> String {
    let trace = reasoning.thoughts()[0].trace();
    let refusals = trace
        .refusals
        .iter()
        .map(|refusal| format!("{}: {}\n", refusal.format, refusal.error));
    format!("{}{}", refusals.collect::<String>(), trace.format)
}

/// As the strict mode of OpenAI speaks.
#[tokio::test]
async fn an_openai_server_refuses_bounds_and_takes_the_flat_schema() {
    let message = "Invalid schema for response_format 'reply': In context=('properties', 'current_thinking'), 'maxLength' is not permitted.";
    let refusal = json!({"error": {"message": message, "type": "invalid_request_error", "param": "response_format", "code": null}});
    let reply = json!({"choices": [{"message": {"content": REPLY}, "finish_reason": "stop"}]});
    let (address, server) = serve(vec![(400, refusal), (200, reply)]).await;
    let client = OpenAiClient::builder(format!("http://{address}/v1"), "m")
        .build()
        .unwrap();

    insta::assert_snapshot!(refused(&run(client).await), @"
    JSON Schema: invalid request: Invalid schema for response_format 'reply': In context=('properties', 'current_thinking'), 'maxLength' is not permitted. (status 400)
    flat JSON Schema
    ");

    let bodies = server.await.unwrap();
    let schema = |body: &Value| body["response_format"]["json_schema"]["schema"].clone();
    let thinking = |body: &Value| schema(body)["properties"]["current_thinking"].clone();
    assert!(thinking(&bodies[0])["maxLength"].is_number());
    assert!(thinking(&bodies[1])["maxLength"].is_null());
    assert_eq!(bodies[1]["response_format"]["json_schema"]["strict"], true);
    assert_eq!(bodies[0]["messages"], bodies[1]["messages"]);
}

#[tokio::test]
async fn an_anthropic_server_takes_the_flat_schema_or_is_asked_for_yaml() {
    let refusal = |message: &str| {
        (
            400,
            json!({"type": "error", "error": {"type": "invalid_request_error", "message": message}}),
        )
    };

    let bounds = refusal(
        "output_config.format.schema: For 'string' type, property 'maxLength' is not supported",
    );
    let model = refusal("'claude' does not support output format.");
    let reply = |text: &str| {
        (
            200,
            json!({"content": [{"type": "text", "text": text}], "stop_reason": "end_turn"}),
        )
    };

    let (address, server) = serve(vec![
        bounds.clone(),
        reply(REPLY),
        bounds,
        model,
        reply(REPLY),
    ])
    .await;

    let client = || {
        AnthropicClient::builder(format!("http://{address}"), "m")
            .build()
            .unwrap()
    };

    insta::assert_snapshot!(refused(&run(client()).await), @"
    JSON Schema: invalid request: output_config.format.schema: For 'string' type, property 'maxLength' is not supported (status 400)
    flat JSON Schema
    ");
    insta::assert_snapshot!(refused(&run(client()).await), @"
    JSON Schema: invalid request: output_config.format.schema: For 'string' type, property 'maxLength' is not supported (status 400)
    flat JSON Schema: invalid request: 'claude' does not support output format. (status 400)
    plain text
    ");

    assert!(server.await.unwrap()[4]["output_config"].is_null());
}

/// Ollama answers a schema it cannot turn into a grammar with a failure.
#[tokio::test]
async fn an_ollama_server_fails_over_a_schema() {
    let refusal = (500, json!({"error": "invalid JSON schema in format"}));
    let reply = (
        200,
        json!({"message": {"role": "assistant", "content": REPLY}, "done": true, "done_reason": "stop"}),
    );
    let (address, server) = serve(vec![refusal, reply]).await;
    let client = OllamaClient::builder(format!("http://{address}"), "m")
        .build()
        .unwrap();

    insta::assert_snapshot!(refused(&run(client).await), @"
    JSON Schema: server: invalid JSON schema in format (status 500)
    flat JSON Schema
    ");
    assert!(server.await.unwrap()[1]["format"]["$defs"].is_null());
}
