//! Tools, their calls and results, images and files: what each protocol is sent.

use cogwork_llm::{
    AnthropicClient, Block, Capability, ChatRequest, LlmClient, LlmErrorKind as Kind, Message,
    OllamaClient, Role, ToolCall, ToolChoice, ToolDefinition,
};
use serde_json::Value;

use crate::http::support::{Server, ok, says};

const SCHEMA: &str =
    r#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;

fn openai(server: &Server) -> Box<dyn LlmClient> {
    Box::new(server.client())
}

fn anthropic(server: &Server) -> Box<dyn LlmClient> {
    Box::new(
        AnthropicClient::builder(server.origin(), "m")
            .build()
            .unwrap(),
    )
}

fn ollama(server: &Server) -> Box<dyn LlmClient> {
    Box::new(OllamaClient::builder(server.origin(), "m").build().unwrap())
}

/// The body of a request, a line for each of its messages, and one for its tools.
async fn sent(client: fn(&Server) -> Box<dyn LlmClient>, request: ChatRequest) -> String {
    // Each protocol finds its own reply in it.
    let reply = r#"{"choices":[{"message":{"content":""}}],"content":[],"message":{"content":""},"done":true}"#;
    let server = Server::start([ok(reply)]).await;
    client(&server).complete(request).await.unwrap();
    let body = server.requests()[0].body.clone();

    serde_json::from_str::<Value>(&body).unwrap();
    body.replace("},{\"role\"", "},\n{\"role\"")
        .replace(",\"tools\"", ",\n\"tools\"")
}

async fn refused(client: fn(&Server) -> Box<dyn LlmClient>, request: ChatRequest) -> String {
    let server = Server::start([]).await;
    let error = client(&server).complete(request.clone()).await.unwrap_err();
    assert_eq!(error.kind(), Kind::InvalidRequest);
    let streamed = client(&server).stream(request).await.unwrap_err();

    assert_eq!(streamed.to_string(), error.to_string());
    assert!(server.requests().is_empty());
    error.to_string()
}

fn weather() -> ToolDefinition {
    ToolDefinition::new("weather", "The weather in a city.", SCHEMA)
}

/// A question, two calls, what came of them, and one more question.
fn conversation() -> ChatRequest {
    let first = ToolCall::new("toolu_1", "weather", r#"{"city": "Bergen"}"#);
    let second = ToolCall::new("toolu_2", "weather", r#"{"city":"Oslo"}"#);
    ChatRequest::new([
        Message::user("Where does it rain?"),
        Message::assistant("Let me see.").with_tool_calls([first.clone(), second.clone()]),
        Message::tool_result(&first, "Rain."),
        Message::tool_failure(&second, "no connection"),
        Message::user("So?"),
    ])
    .with_tools([
        weather(),
        ToolDefinition::new("clock", "", r#"{"type":"object"}"#),
    ])
}

#[tokio::test]
async fn openai_is_sent_tools_calls_and_results() {
    insta::assert_snapshot!(sent(openai, conversation()).await, @r#"
    {"model":"test-model","messages":[{"role":"user","content":"Where does it rain?"},
    {"role":"assistant","content":"Let me see.","tool_calls":[{"id":"toolu_1","type":"function","function":{"name":"weather","arguments":"{\"city\": \"Bergen\"}"}},{"id":"toolu_2","type":"function","function":{"name":"weather","arguments":"{\"city\":\"Oslo\"}"}}]},
    {"role":"tool","content":"Rain.","tool_call_id":"toolu_1"},
    {"role":"tool","content":"no connection","tool_call_id":"toolu_2"},
    {"role":"user","content":"So?"}],
    "tools":[{"type":"function","function":{"name":"weather","description":"The weather in a city.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},{"type":"function","function":{"name":"clock","parameters":{"type":"object"}}}]}
    "#);
}

#[tokio::test]
async fn anthropic_is_sent_the_results_of_a_turn_in_one_message() {
    insta::assert_snapshot!(sent(anthropic, conversation()).await, @r#"
    {"model":"m","max_tokens":4096,"messages":[{"role":"user","content":"Where does it rain?"},
    {"role":"assistant","content":[{"type":"text","text":"Let me see."},{"type":"tool_use","id":"toolu_1","name":"weather","input":{"city": "Bergen"}},{"type":"tool_use","id":"toolu_2","name":"weather","input":{"city":"Oslo"}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"Rain."},{"type":"tool_result","tool_use_id":"toolu_2","content":"no connection","is_error":true},{"type":"text","text":"So?"}]}],
    "tools":[{"name":"weather","description":"The weather in a city.","input_schema":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}},{"name":"clock","input_schema":{"type":"object"}}]}
    "#);
}

#[tokio::test]
async fn ollama_is_sent_arguments_as_objects_and_results_by_name() {
    insta::assert_snapshot!(sent(ollama, conversation()).await, @r#"
    {"model":"m","messages":[{"role":"user","content":"Where does it rain?"},
    {"role":"assistant","content":"Let me see.","tool_calls":[{"function":{"name":"weather","arguments":{"city": "Bergen"}}},{"function":{"name":"weather","arguments":{"city":"Oslo"}}}]},
    {"role":"tool","content":"Rain.","tool_name":"weather"},
    {"role":"tool","content":"no connection","tool_name":"weather"},
    {"role":"user","content":"So?"}],"stream":false,
    "tools":[{"type":"function","function":{"name":"weather","description":"The weather in a city.","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}},{"type":"function","function":{"name":"clock","parameters":{"type":"object"}}}]}
    "#);
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

    insta::assert_snapshot!(sent(anthropic, request).await, @r#"
    {"model":"m","max_tokens":4096,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"clock","input":{}},{"type":"tool_use","id":"b","name":"clock","input":{}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"noon"},{"type":"tool_result","tool_use_id":"b","content":"one"},{"type":"text","text":"Hurry."},{"type":"text","text":"Be calm."}]},
    {"role":"assistant","content":"One."},
    {"role":"user","content":"And now?"},
    {"role":"user","content":"Well?"}]}
    "#);
}

#[tokio::test]
async fn a_choice_of_tools_goes_in_the_words_of_the_protocol() {
    let choices = [
        ToolChoice::Auto,
        ToolChoice::None,
        ToolChoice::Required,
        ToolChoice::Tool("weather".to_owned()),
    ];

    let mut lines = Vec::new();
    for choice in choices {
        let request = ChatRequest::default()
            .with_tools([weather()])
            .with_tool_choice(choice.clone());
        for client in [openai, anthropic] {
            let body = sent(client, request.clone()).await;
            lines.push(body[body.find("\"tool_choice\"").unwrap()..].to_owned());
        }

        // Without tools there is nothing to choose from.
        for client in [openai, anthropic, ollama] {
            let body = sent(
                client,
                ChatRequest::default().with_tool_choice(choice.clone()),
            )
            .await;
            assert!(!body.contains("tool"), "{body}");
        }
    }

    insta::assert_snapshot!(lines.join("\n"), @r#"
    "tool_choice":"auto"}
    "tool_choice":{"type":"auto"}}
    "tool_choice":"none"}
    "tool_choice":{"type":"none"}}
    "tool_choice":"required"}
    "tool_choice":{"type":"any"}}
    "tool_choice":{"type":"function","function":{"name":"weather"}}}
    "tool_choice":{"type":"tool","name":"weather"}}
    "#);

    let asking = |choice| {
        ChatRequest::default()
            .with_tools([weather()])
            .with_tool_choice(choice)
    };

    assert!(
        sent(ollama, asking(ToolChoice::Auto))
            .await
            .contains("weather")
    );

    assert!(
        !sent(ollama, asking(ToolChoice::None))
            .await
            .contains("weather")
    );

    for choice in [ToolChoice::Required, ToolChoice::Tool("weather".to_owned())] {
        assert_eq!(
            refused(ollama, asking(choice)).await,
            "invalid request: Ollama's API cannot force a tool call; expected the tool choice Auto or None"
        );
    }
}

#[tokio::test]
async fn a_call_that_no_server_would_take_can_be_answered_all_the_same() {
    let deep = format!(r#"{{"a":{}{}}}"#, "[".repeat(200), "]".repeat(200));
    let calls = [
        ToolCall::new(
            "functions.weather:0",
            "weather in bergen!",
            r#"{"city": "Ber"#,
        ),
        ToolCall::new("call_2", "", "[1]"),
        ToolCall::new("call_3", "weather", " "),
        ToolCall::new("call_4", "clock", r#"{"a":"\"}{[[\\"}"#),
        ToolCall::new("call_5", "clock", deep),
    ];

    let answers: Vec<_> = calls
        .iter()
        .map(|call| Message::tool_failure(call, "no such tool"))
        .collect();
    let request = ChatRequest::new(
        [Message::assistant("").with_tool_calls(calls)]
            .into_iter()
            .chain(answers),
    );

    let all = [
        sent(openai, request.clone()).await,
        sent(anthropic, request.clone()).await,
        sent(ollama, request).await,
    ];

    insta::assert_snapshot!(all.join("\n").replace(&"[".repeat(200), "[…").replace(&"]".repeat(200), "…]"), @r#"
    {"model":"test-model","messages":[{"role":"assistant","content":null,"tool_calls":[{"id":"functions.weather:0","type":"function","function":{"name":"weather_in_bergen_","arguments":"{\"invalid_json\":\"{\\\"city\\\": \\\"Ber\"}"}},{"id":"call_2","type":"function","function":{"name":"_","arguments":"{\"invalid_json\":\"[1]\"}"}},{"id":"call_3","type":"function","function":{"name":"weather","arguments":"{}"}},{"id":"call_4","type":"function","function":{"name":"clock","arguments":"{\"a\":\"\\\"}{[[\\\\\"}"}},{"id":"call_5","type":"function","function":{"name":"clock","arguments":"{\"invalid_json\":\"{\\\"a\\\":[……]}\"}"}}]},
    {"role":"tool","content":"no such tool","tool_call_id":"functions.weather:0"},
    {"role":"tool","content":"no such tool","tool_call_id":"call_2"},
    {"role":"tool","content":"no such tool","tool_call_id":"call_3"},
    {"role":"tool","content":"no such tool","tool_call_id":"call_4"},
    {"role":"tool","content":"no such tool","tool_call_id":"call_5"}]}
    {"model":"m","max_tokens":4096,"messages":[{"role":"assistant","content":[{"type":"tool_use","id":"functions_weather_0","name":"weather_in_bergen_","input":{"invalid_json":"{\"city\": \"Ber"}},{"type":"tool_use","id":"call_2","name":"_","input":{"invalid_json":"[1]"}},{"type":"tool_use","id":"call_3","name":"weather","input":{}},{"type":"tool_use","id":"call_4","name":"clock","input":{"a":"\"}{[[\\"}},{"type":"tool_use","id":"call_5","name":"clock","input":{"invalid_json":"{\"a\":[……]}"}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_weather_0","content":"no such tool","is_error":true},{"type":"tool_result","tool_use_id":"call_2","content":"no such tool","is_error":true},{"type":"tool_result","tool_use_id":"call_3","content":"no such tool","is_error":true},{"type":"tool_result","tool_use_id":"call_4","content":"no such tool","is_error":true},{"type":"tool_result","tool_use_id":"call_5","content":"no such tool","is_error":true}]}]}
    {"model":"m","messages":[{"role":"assistant","content":"","tool_calls":[{"function":{"name":"weather in bergen!","arguments":{"invalid_json":"{\"city\": \"Ber"}}},{"function":{"name":"","arguments":{"invalid_json":"[1]"}}},{"function":{"name":"weather","arguments":{}}},{"function":{"name":"clock","arguments":{"a":"\"}{[[\\"}}},{"function":{"name":"clock","arguments":{"invalid_json":"{\"a\":[……]}"}}}]},
    {"role":"tool","content":"no such tool","tool_name":"weather in bergen!"},
    {"role":"tool","content":"no such tool","tool_name":""},
    {"role":"tool","content":"no such tool","tool_name":"weather"},
    {"role":"tool","content":"no such tool","tool_name":"clock"},
    {"role":"tool","content":"no such tool","tool_name":"clock"}],"stream":false}
    "#);
}

#[tokio::test]
async fn images_and_files_stand_before_the_text() {
    let image = Block::image("image/png", "iVBORw0KGgo=");
    let request = ChatRequest::new([
        Message::user("What is it?").with_blocks([
            image.clone(),
            Block::image_url("https://example.com/cat.png"),
            Block::file("plan.pdf", "application/pdf", "JVBERi0="),
        ]),
        Message::user("").with_blocks([image.clone()]),
    ]);

    insta::assert_snapshot!(sent(openai, request.clone()).await, @r#"
    {"model":"test-model","messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}},{"type":"image_url","image_url":{"url":"https://example.com/cat.png"}},{"type":"file","file":{"filename":"plan.pdf","file_data":"data:application/pdf;base64,JVBERi0="}},{"type":"text","text":"What is it?"}]},
    {"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,iVBORw0KGgo="}}]}]}
    "#);
    insta::assert_snapshot!(sent(anthropic, request).await, @r#"
    {"model":"m","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"image","source":{"type":"url","url":"https://example.com/cat.png"}},{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"plan.pdf"},{"type":"text","text":"What is it?"}]},
    {"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}]}]}
    "#);
    let request =
        ChatRequest::new([Message::user("What is it?").with_blocks([image.clone(), image])]);
    insta::assert_snapshot!(sent(ollama, request).await, @r#"{"model":"m","messages":[{"role":"user","content":"What is it?","images":["iVBORw0KGgo=","iVBORw0KGgo="]}],"stream":false}"#);
}

#[tokio::test]
async fn a_tool_may_show_anthropic_an_image() {
    let call = ToolCall::new("toolu_1", "screenshot", "{}");
    let image = Block::image("image/png", "iVBORw0KGgo=");
    let request =
        ChatRequest::new([Message::tool_result(&call, "The window.").with_blocks([image])]);
    insta::assert_snapshot!(sent(anthropic, request.clone()).await, @r#"{"model":"m","max_tokens":4096,"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}},{"type":"text","text":"The window."}]}]}]}"#);

    for client in [openai, ollama] {
        assert_eq!(
            refused(client, request.clone()).await,
            "invalid request: messages[0] has images or files in the role tool; expected them in the role user"
        );
    }
}

#[tokio::test]
async fn what_a_protocol_cannot_carry_is_an_error_that_names_the_message() {
    let said = |message: Message| ChatRequest::new([Message::user("Hello"), message]);
    let text = Block::file("a.txt", "text/plain", "aGk=");
    let cases = [
        (
            anthropic as fn(&Server) -> _,
            said(Message::user("").with_blocks([text.clone()])),
        ),
        (ollama, said(Message::user("").with_blocks([text]))),
        (
            ollama,
            said(Message::user("").with_blocks([Block::image_url("https://example.com/cat.png")])),
        ),
    ];

    let mut told = Vec::new();
    for (client, request) in cases {
        told.push(refused(client, request).await);
    }

    let image = [Block::image("image/png", "iVBORw0KGgo=")];
    let call = [ToolCall::new("a", "weather", "{}")];
    for request in [
        said(Message::assistant("").with_blocks(image.clone())),
        said(Message::system("").with_blocks(image)),
        said(Message::user("").with_tool_calls(call)),
        said(Message::new(Role::Tool, "noon")),
        ChatRequest::default().with_tools([ToolDefinition::new("weather", "", "[]")]),
        ChatRequest::default()
            .with_tools([weather()])
            .with_tool_choice(ToolChoice::Tool("clock".to_owned())),
    ] {
        let same = refused(openai, request.clone()).await;
        for client in [anthropic, ollama] {
            assert_eq!(refused(client, request.clone()).await, same);
        }

        told.push(same);
    }

    insta::assert_snapshot!(told.join("\n"), @r#"
    invalid request: messages[1] has a file of the type "text/plain"; expected "application/pdf"
    invalid request: messages[1] has a file; expected images or text
    invalid request: messages[1] has an image URL; expected image data
    invalid request: messages[1] has images or files in the role assistant; expected them in the role user
    invalid request: messages[1] has images or files in the role system; expected them in the role user
    invalid request: messages[1] has tool calls in the role user; expected them in the role assistant
    invalid request: messages[1] has no tool call id; expected Message::tool_result or Message::tool_failure
    invalid request: the input schema of the tool "weather" isn't a JSON object; expected a JSON Schema
    invalid request: the tool choice is "clock"; expected a tool of the request: weather
    "#);
}

#[tokio::test]
async fn tools_of_the_request_go_before_tools_of_the_settings() {
    let server = Server::start([says("1"), says("2")]).await;
    let client = cogwork_llm::OpenAiClient::builder(server.base_url(), "m")
        .with_extra("tools", "mine")
        .with_extra("tool_choice", "mine")
        .with_extra("parallel_tool_calls", false)
        .build()
        .unwrap();

    client.complete(ChatRequest::default()).await.unwrap();
    let tools = [ToolDefinition::new("clock", "", "{}")];
    client
        .complete(
            ChatRequest::default()
                .with_tools(tools)
                .with_tool_choice(ToolChoice::Auto),
        )
        .await
        .unwrap();

    let bodies: Vec<String> = server
        .requests()
        .into_iter()
        .map(|seen| seen.body)
        .collect();

    insta::assert_snapshot!(bodies.join("\n"), @r#"
    {"model":"m","messages":[],"parallel_tool_calls":false,"tool_choice":"mine","tools":"mine"}
    {"model":"m","messages":[],"tools":[{"type":"function","function":{"name":"clock","parameters":{}}}],"tool_choice":"auto","parallel_tool_calls":false}
    "#);
}

#[tokio::test]
async fn all_three_can_use_tools() {
    let server = Server::start([]).await;
    for client in [openai, anthropic, ollama] {
        assert!(client(&server).capabilities().has(Capability::Tools));
    }
}
