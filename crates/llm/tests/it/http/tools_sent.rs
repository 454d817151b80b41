//! Tools, their calls and results, images and files: what each protocol is sent.

use cogwork_llm::{
    Block, ChatRequest, LlmErrorKind as Kind, Message, Role, ToolCall, ToolChoice, ToolDefinition,
};
use serde_json::json;

use crate::http::support::Protocol::{self, Chat, Messages, Ollama, Responses};
use crate::http::support::{Server, Settings, sent, sent_by_all, sent_with};
use crate::table::check;

const SCHEMA: &str =
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
/// A schema that every server can guarantee.
const CLOSED: &str =
    r#"{"type":"object","properties":{},"required":[],"additionalProperties":false}"#;

/// The error of these protocols, without a request.
async fn refused(protocols: &[Protocol], request: ChatRequest) -> String {
    let mut errors = Vec::new();
    for protocol in protocols {
        let server = Server::start([]).await;
        let client = protocol.client(&server);
        errors.push(client.complete(request.clone()).await.unwrap_err());
        errors.push(client.stream(request.clone()).await.unwrap_err());
        assert!(server.requests().is_empty());
    }

    let mut kinds = errors.iter().map(|error| error.kind());
    assert!(kinds.all(|kind| kind == Kind::InvalidRequest));
    let mut told: Vec<_> = errors.iter().map(|error| error.message()).collect();
    told.dedup();
    told.join(" or ")
}

fn weather() -> ToolDefinition {
    ToolDefinition::new("weather", "The weather in a city.", SCHEMA)
}

fn showing<const N: usize>(message: Message, blocks: [&Block; N]) -> ChatRequest {
    ChatRequest::new([message.with_blocks(blocks.map(Block::clone))])
}

fn file(name: &str, media_type: &str, data: &str) -> Block {
    Block::File {
        name: name.into(),
        media_type: media_type.into(),
        data: data.into(),
    }
}

#[tokio::test]
async fn tools_calls_and_results() {
    let first = ToolCall::new("toolu_1", "weather", r#"{"city": "Bergen"}"#);
    let second = ToolCall::new("toolu_2", "weather", r#"{"city":"Oslo"}"#);
    let request = ChatRequest::new([
        Message::user("Where does it rain?"),
        Message::assistant("Let me see.").with_tool_calls([first.clone(), second.clone()]),
        Message::tool_result(&first, "Rain."),
        Message::tool_failure(&second, "no connection"),
        Message::user("So?"),
    ])
    .with_tools([weather(), ToolDefinition::new("clock", "", CLOSED)]);
    insta::assert_snapshot!(sent_by_all(request).await);
}

#[tokio::test]
async fn a_tool_is_strict_only_if_servers_can_guarantee_its_schema() {
    // What stands between < and > is a property of an object.
    let table = r#"
        <{"type":["string","null"],"description":"d","enum":["x",null]}> => true
        <<{"anyOf":[{"type":"integer"},{"$ref":"x"}]}>> => true
        <{"type":"array","items":{"type":"number"}}> => true
        {} => false
        <{}> => false
        <true> => false
        <{"type":"string","pattern":"x"}> => false
        <{"type":["object","null"]}> => false
        <{"type":"object"}> => false
        {"type":"object","additionalProperties":false,"required":[],"properties":{"a":{"type":"integer"}}} => false
        {"type":"object","additionalProperties":true,"required":["a"],"properties":{"a":{"type":"integer"}}} => false
    "#;
    check(table, async |schema| {
        let begin =
            r#"{"type":"object","additionalProperties":false,"required":["a"],"properties":{"a":"#;
        let schema = schema.replace('<', begin).replace('>', "}}");
        let tool = ToolDefinition::new("clock", "", schema);
        let body = sent(Responses, ChatRequest::default().with_tools([tool])).await;
        body.contains("\"strict\":true").to_string()
    })
    .await;

    let many = (0..21).map(|n| ToolDefinition::new(format!("clock{n}"), "", CLOSED));
    let body = sent(Chat, ChatRequest::default().with_tools(many)).await;
    assert!(!body.contains("strict"));
}

#[tokio::test]
async fn results_stand_together_whatever_is_said_between_them() {
    let calls = ["a", "b"].map(|id| ToolCall::new(id, "clock", "{}"));
    let request = ChatRequest::new([
        Message::assistant("").with_tool_calls(calls.clone()),
        Message::tool_result(&calls[0], "noon"),
        Message::user("Hurry."),
        Message::system("Be calm."),
        Message::tool_result(&calls[1], "one"),
        Message::assistant("One."),
        Message::user("And now?"),
        Message::user("Well?"),
    ]);
    insta::assert_snapshot!(sent(Messages, request).await, @r#"
    {"model":"m","max_tokens":16384,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"clock","input":{}},{"type":"tool_use","id":"b","name":"clock","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"noon"},{"type":"tool_result","tool_use_id":"b","content":"one"},{"type":"text","text":"Hurry."},{"type":"text","text":"Be calm."}]},
    {"role":"assistant","content":"One."},
    {"role":"user","content":"And now?"},
    {"role":"user","content":"Well?"}],"cache_control":{"type":"ephemeral"}}
    "#);
}

#[tokio::test]
async fn a_choice_of_tools_goes_in_the_words_of_the_protocol() {
    let mut lines = Vec::new();
    for choice in [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Tool("weather".to_owned()),
    ] {
        for protocol in Protocol::ALL {
            // Without tools there is nothing to choose from.
            let request = ChatRequest::default().with_tool_choice(choice.clone());
            let body = sent(protocol, request.clone()).await;
            assert!(!body.contains("tool"), "{body}");

            let request = request.with_tools([weather()]);
            let is_forced = !matches!(choice, ToolChoice::Auto | ToolChoice::None);
            lines.push(match protocol {
                Ollama if is_forced => refused(&[Ollama], request).await,
                _ => {
                    let body = sent(protocol, request).await;
                    let chosen = body.split_once("\"tool_choice\":");
                    let chosen = chosen.map_or("not sent", |(_, rest)| rest);
                    format!(
                        "{protocol:?} {choice:?} {} {chosen}",
                        body.contains("\"tools\"")
                    )
                }
            });
        }
    }
    insta::assert_snapshot!(lines.join("\n"));
}

#[tokio::test]
async fn a_call_that_no_server_would_take_can_be_answered_all_the_same() {
    let (open, close) = ("[".repeat(200), "]".repeat(200));
    let calls = [
        (
            "functions.weather:0",
            "weather in bergen!",
            r#"{"city": "Ber"#,
        ),
        ("call_2", "", "[1]"),
        ("call_3", "weather", " "),
        ("call_4", "clock", r#"{"a":"\"}{[[\\"}"#),
        ("call_5", "clock", &format!(r#"{{"a":{open}{close}}}"#)),
    ];
    let calls = calls.map(|(id, name, arguments)| ToolCall::new(id, name, arguments));
    let answer = Message::tool_failure(&calls[0], "no such tool");
    let request = ChatRequest::new([Message::assistant("").with_tool_calls(calls), answer]);
    let bodies = sent_by_all(request)
        .await
        .replace(&open, "[…")
        .replace(&close, "…]");
    insta::assert_snapshot!(bodies);
}

#[tokio::test]
async fn images_and_files_stand_before_the_text() {
    let image = Block::image("image/png", "iVBORw0KGgo=");
    let url = Block::image_url("https://example.com/cat.png");
    let file = file("plan.pdf", "application/pdf", "JVBERi0=");
    let all = showing(Message::user("What is it?"), [&image, &url, &file]);
    let call = ToolCall::new("toolu_1", "screenshot", "{}");
    let result = showing(Message::tool_result(&call, "The window."), [&image]);
    let bodies = [
        sent(Chat, all.clone()).await,
        sent(Responses, all.clone()).await,
        sent(Messages, all).await,
        sent(
            Ollama,
            showing(Message::user("What is it?"), [&image, &image]),
        )
        .await,
        sent(Chat, showing(Message::user(""), [&image])).await,
        sent(Responses, result.clone()).await,
        sent(Messages, result).await,
    ];
    insta::assert_snapshot!(bodies.join("\n"));
}

#[tokio::test]
async fn what_a_protocol_cannot_carry_is_an_error_that_names_the_message() {
    let file = &file("a.txt", "text/plain", "aGk=");
    let url = &Block::image_url("https://example.com/cat.png");
    let image = &Block::image("image/png", "iVBORw0KGgo=");
    let call = ToolCall::new("a", "weather", "{}");
    let calling = Message::user("").with_tool_calls([call.clone()]);
    let no_schema = ToolDefinition::new("weather", "", "[]");
    let all = &Protocol::ALL;
    let told = [
        refused(&[Messages], showing(Message::user(""), [file])).await,
        refused(&[Ollama], showing(Message::user(""), [file])).await,
        refused(&[Ollama], showing(Message::user(""), [url])).await,
        refused(
            &[Chat, Ollama],
            showing(Message::tool_result(&call, ""), [image]),
        )
        .await,
        refused(all, showing(Message::assistant(""), [image])).await,
        refused(all, showing(Message::system(""), [image])).await,
        refused(all, ChatRequest::new([Message::user(""), calling])).await,
        refused(all, ChatRequest::new([Message::new(Role::Tool, "noon")])).await,
        refused(all, ChatRequest::default().with_tools([no_schema])).await,
    ];
    insta::assert_snapshot!(told.join("\n"));
}

#[tokio::test]
async fn tools_of_the_request_go_before_tools_of_the_settings() {
    let settings = Settings::extra(
        json!({"tools": "mine", "tool_choice": "mine", "parallel_tool_calls": false}),
    );
    let tools = [ToolDefinition::new("clock", "", "{}")];
    let request = ChatRequest::default()
        .with_tools(tools)
        .with_tool_choice(ToolChoice::Auto);
    let bodies = [
        sent_with(Chat, &settings, ChatRequest::default()).await,
        sent_with(Chat, &settings, request).await,
    ];
    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"m","messages":[],"parallel_tool_calls":false,"tool_choice":"mine",
    "tools":"mine"}
    {"model":"m","messages":[],
    "tools":[{"type":"function","function":{"name":"clock","parameters":{}}}],"tool_choice":"auto","parallel_tool_calls":false}
    "#);
}
