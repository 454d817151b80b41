//! The bytes of requests.

use cogwork_llm::backend::Capability;
use cogwork_llm::{
    AnthropicClient, ChatRequest, Effort, LlmClient, LlmErrorKind as Kind, Message, OllamaClient,
    OpenAiClient, ReplyFormat,
};
use serde_json::{Value, json};

use crate::http::support::{
    EMPTY, Protocol, Server, Settings, ask, follow, ok, sent, sent_by_all, sent_with,
};
use crate::table::check;

/// Models write the fields of an object in the order of the schema, so it must arrive as it is.
const SCHEMA: &str =
    r#"{"type":"object","properties":{"thought":{"type":"string"},"answer":{"type":"integer"}}}"#;

#[tokio::test]
async fn messages_go_where_the_protocol_wants_them() {
    let request = ChatRequest::new([
        Message::system("Be brief."),
        Message::system("Be kind."),
        Message::user("\"2 + 2\"?\n\u{1f914}"),
        Message::assistant("4"),
        Message::system("Now be rude."),
        Message::user("Sure?"),
        Message::system("Last words."),
    ]);

    insta::assert_snapshot!(sent_by_all(request).await);
}

#[tokio::test]
async fn settings_of_the_request_go_before_those_of_the_client() {
    let request = ChatRequest::new([Message::user("Go")])
        .with_max_tokens(7)
        .with_temperature(0.2)
        .with_seed(u64::MAX)
        .with_stop(["END", "\n\n"]);
    let nested = json!({"enable_thinking": false});
    let settings = Settings::extra(json!({
        "temperature": 1, "top_k": 20, "max_tokens": 50, "think": false,
        "chat_template_kwargs": nested, "options": {"num_ctx": 16_384, "seed": 1},
    }));

    let mut bodies = Vec::new();
    for protocol in Protocol::ALL {
        bodies.push(sent_with(protocol, &settings, request.clone()).await);
    }
    bodies.push(sent_with(Protocol::Chat, &settings, ChatRequest::default()).await);
    bodies.push(sent_with(Protocol::Messages, &settings, ChatRequest::default()).await);
    insta::assert_snapshot!(bodies.join("\n"));
}

#[tokio::test]
async fn each_protocol_is_asked_for_json_in_its_own_way() {
    let asking = |format| ChatRequest::default().with_format(format);
    let settings = Settings::extra(json!({
        "response_format": "mine", "format": "mine", "text": {"format": 1, "verbosity": "low"},
        "output_config": {"effort": "low", "format": "mine"},
    }));

    let mut bodies = Vec::new();
    for protocol in Protocol::ALL {
        let client = protocol.client_with("http://localhost", &settings);
        let can = client.capabilities();
        assert!(can.has(Capability::JsonSchema) && can.has(Capability::Tools));
        let schema = asking(ReplyFormat::schema("sum", SCHEMA));
        bodies.push(sent_with(protocol, &settings, schema).await);

        if can.has(Capability::JsonMode) {
            bodies.push(sent(protocol, asking(ReplyFormat::Json)).await);
        }

        for schema in ["", "{", "[]", "true"] {
            let request = asking(ReplyFormat::schema("x", schema));
            let error = client.complete(request).await.unwrap_err();
            let expected =
                "the schema of the reply format isn't a JSON object; expected a JSON Schema";
            assert_eq!(error.message(), expected);
            assert_eq!(error.kind(), Kind::InvalidRequest);
        }
    }
    insta::assert_snapshot!(bodies.join("\n"));

    let client = Protocol::Messages.client_with("http://localhost", &settings);
    let error = client.stream(asking(ReplyFormat::Json)).await.unwrap_err();
    let expected =
        "the Messages API supports JSON only with a schema; expected a schema, or no format";
    assert_eq!(error.message(), expected);
}

#[tokio::test]
async fn a_stream_is_asked_for_with_usage() {
    let mut bodies = Vec::new();
    for protocol in Protocol::ALL {
        let server = Server::start([ok(&protocol.whole())]).await;
        follow(&protocol.client(&server)).await.1.unwrap();
        bodies.push(server.requests()[0].body.clone());
    }
    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true,"stream_options":{"include_usage":true}}
    {"model":"m","input":[{"role":"user","content":"Hello"}],"store":false,"include":["reasoning.encrypted_content"],"stream":true}
    {"model":"m","max_tokens":16384,"messages":[{"role":"user","content":"Hello"}],"stream":true,"cache_control":{"type":"ephemeral"}}
    {"model":"m","messages":[{"role":"user","content":"Hello"}],"stream":true}
    "#);
}

#[tokio::test]
async fn the_head_names_path_key_version_and_own_headers() {
    let server = Server::start([(); 5].map(|()| ok(EMPTY))).await;
    let (with, without) = (server.base_url(), server.origin());
    let key = "sk-test-0123456789";
    let openai = OpenAiClient::builder(format!("{with}/"), "m").with_header("X-Title", "Cogwork");
    // A base URL with the version in it is as good as one without.
    let anthropic = AnthropicClient::builder(&with, "m").with_api_key(key);
    let ollama = OllamaClient::builder(format!("{without}/api/"), "m");
    ask(&openai.with_api_key(key).build().unwrap())
        .await
        .unwrap();
    ask(&anthropic.build().unwrap()).await.unwrap();
    ask(&ollama.build().unwrap()).await.unwrap();
    ask(&server.client()).await.unwrap();
    let azure = OpenAiClient::builder(format!("{with}/deployments/d?api-version=2024-10-21"), "m");
    ask(&azure.build().unwrap()).await.unwrap();

    let mut heads = Vec::new();
    for seen in server.requests() {
        let own =
            |line: &&str| !line.starts_with("host: ") && !line.starts_with("content-length: ");
        let mut lines: Vec<&str> = seen.head.lines().filter(own).collect();
        lines[1..].sort_unstable();
        heads.push(lines.join("\n"));
    }

    insta::assert_snapshot!(heads.join("\n\n"));
}

/// In each row, what Chat, Responses, Claude and Ollama are sent.
#[tokio::test]
async fn each_protocol_writes_an_effort_in_its_own_way() {
    let table = r#"
        none => "none" {"effort":"none"} {"type":"disabled"} false
        minimal => "minimal" {"effort":"minimal"} {"type":"adaptive"} {"effort":"low"} "low"
        low => "low" {"effort":"low"} {"type":"adaptive"} {"effort":"low"} "low"
        medium => "medium" {"effort":"medium"} {"type":"adaptive"} {"effort":"medium"} "medium"
        high => "high" {"effort":"high"} {"type":"adaptive"} {"effort":"high"} "high"
        xhigh => "xhigh" {"effort":"xhigh"} {"type":"adaptive"} {"effort":"xhigh"} "max"
        max => "max" {"effort":"max"} {"type":"adaptive"} {"effort":"max"} "max"
    "#;
    check(table, async |effort| {
        let effort: Effort = serde_json::from_value(effort.into()).unwrap();
        let request = ChatRequest::default().with_effort(effort);
        let bodies = sent_by_all(request).await;
        let names = "reasoning_effort reasoning thinking output_config think";
        let mut told = Vec::new();
        for body in bodies.lines() {
            let body: Value = serde_json::from_str(body).unwrap();
            let fields = names.split(' ').filter_map(|name| body.get(name));
            told.extend(fields.map(Value::to_string));
        }
        told.join(" ")
    })
    .await;
}
