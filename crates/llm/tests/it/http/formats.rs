//! Replies held to JSON: how each protocol is asked for it.

use std::collections::BTreeMap;

use cogwork_llm::{
    AnthropicClient, Capability, ChatRequest, LlmClient, LlmErrorKind as Kind, Message,
    OllamaClient, OpenAiClient, ReplyFormat,
};

use crate::http::support::{Server, ok, says};

/// Models write the fields of an object in the order of the schema, so it must arrive as it is.
const SCHEMA: &str =
    r#"{"type":"object","properties":{"thought":{"type":"string"},"answer":{"type":"integer"}}}"#;

fn asking(format: ReplyFormat) -> ChatRequest {
    ChatRequest::new([Message::user("2 + 2?")]).with_format(format)
}

#[tokio::test]
async fn each_protocol_is_asked_in_its_own_way() {
    let ollama = ok(r#"{"message":{"content":"{}"},"done":true}"#);
    let anthropic = ok(r#"{"content":[{"text":"{}"}]}"#);
    let server = Server::start([says("{}"), says("{}"), ollama.clone(), ollama, anthropic]).await;
    let openai = OpenAiClient::builder(server.base_url(), "m")
        .with_extra("response_format", "mine")
        .build()
        .unwrap();
    let ollama = OllamaClient::builder(server.origin(), "m")
        .with_extra("format", "mine")
        .build()
        .unwrap();
    let anthropic = AnthropicClient::builder(server.origin(), "m")
        .with_extra(
            "output_config",
            BTreeMap::from([("effort", "low"), ("format", "mine")]),
        )
        .build()
        .unwrap();

    for client in [&openai as &dyn LlmClient, &ollama] {
        client.complete(asking(ReplyFormat::Json)).await.unwrap();
        client
            .complete(asking(ReplyFormat::schema("sum", SCHEMA)))
            .await
            .unwrap();
        assert!(client.capabilities().has(Capability::JsonMode));
        assert!(client.capabilities().has(Capability::JsonSchema));
    }

    anthropic
        .complete(asking(ReplyFormat::schema("sum", SCHEMA)))
        .await
        .unwrap();
    assert!(!anthropic.capabilities().has(Capability::JsonMode));
    assert!(anthropic.capabilities().has(Capability::JsonSchema));
    let bodies: Vec<String> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();

    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"m","messages":[{"role":"user","content":"2 + 2?"}],"response_format":{"type":"json_object"}}
    {"model":"m","messages":[{"role":"user","content":"2 + 2?"}],"response_format":{"type":"json_schema","json_schema":{"name":"sum","schema":{"type":"object","properties":{"thought":{"type":"string"},"answer":{"type":"integer"}}},"strict":true}}}
    {"model":"m","messages":[{"role":"user","content":"2 + 2?"}],"stream":false,"format":"json"}
    {"model":"m","messages":[{"role":"user","content":"2 + 2?"}],"stream":false,"format":{"type":"object","properties":{"thought":{"type":"string"},"answer":{"type":"integer"}}}}
    {"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"2 + 2?"}],"output_config":{"format":{"type":"json_schema","schema":{"type":"object","properties":{"thought":{"type":"string"},"answer":{"type":"integer"}}}},"effort":"low"}}
    "#);
}

#[tokio::test]
async fn what_cannot_be_asked_for_is_an_error_and_nothing_is_sent() {
    let server = Server::start([]).await;
    let clients: [Box<dyn LlmClient>; 3] = [
        Box::new(server.client()),
        Box::new(OllamaClient::builder(server.origin(), "m").build().unwrap()),
        Box::new(
            AnthropicClient::builder(server.origin(), "m")
                .build()
                .unwrap(),
        ),
    ];

    for client in &clients {
        for schema in ["", "{", "[]", "true"] {
            let error = client
                .complete(asking(ReplyFormat::schema("x", schema)))
                .await
                .unwrap_err();
            assert_eq!(
                error.to_string(),
                "invalid request: the schema of the reply format isn't a JSON object; expected a JSON Schema"
            );
        }
    }

    let error = clients[2]
        .stream(asking(ReplyFormat::Json))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    assert_eq!(
        error.message(),
        "the Messages API supports JSON only with a schema; expected a schema, or no format"
    );
}
