use std::sync::Arc;

use cogwork_llm::layers::{Backoff, Retry, Tracing};
use cogwork_llm::{
    ChatResponse, LlmClient, LlmErrorKind, Message, Messages, ScriptedClient, ScriptedReply, Usage,
};
use tempfile::NamedTempFile;
use tracing_subscriber::fmt::format::FmtSpan;

use crate::around::{ask, asks, fails, follow, hello, with_tools};

/// All spans that the calls make, each as a line when it closes.
async fn spans(calls: impl Future<Output = ()>) -> String {
    let file = NamedTempFile::new().unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_span_events(FmtSpan::CLOSE)
        .with_writer(Arc::new(file.reopen().unwrap()))
        .without_time()
        .with_ansi(false)
        .with_target(false)
        .finish();

    let guard = tracing::subscriber::set_default(subscriber);
    calls.await;
    drop(guard);
    let text = std::fs::read_to_string(file.path()).unwrap();

    // How long a span took is not the same twice.
    let without_times = |line: &str| line.split(": close").next().unwrap().trim().to_owned();
    let lines = text.lines().map(without_times);
    lines.collect::<Vec<_>>().join("\n")
}

#[tokio::test(start_paused = true)]
async fn a_call_is_a_span_with_the_fields_of_opentelemetry() {
    let usage = Usage {
        cached_tokens: 4,
        reasoning_tokens: 2,
        ..Usage::new(10, 5)
    };
    let response = ChatResponse::new("Hi.")
        .with_usage(usage)
        .with_model("m-2025")
        .with_id("chatcmpl-1");

    let client = Tracing::new(ScriptedClient::new([response.clone(), response]));
    let client = client.with_provider("openai").with_model("m");
    let request = hello()
        .with_max_tokens(50)
        .with_temperature(0.2)
        .with_seed(1)
        .with_stop(["END", "\""]);

    let lines = spans(async {
        client.complete(request).await.unwrap();
        follow(&client).await.unwrap();
    });
    insta::assert_snapshot!(lines.await, @r#"
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.provider.name="openai" gen_ai.request.model="m" gen_ai.request.max_tokens=50 gen_ai.request.temperature=0.2 gen_ai.request.seed=1 openinference.span.kind="LLM" otel.name=chat m gen_ai.request.stop_sequences=["END","\""] gen_ai.response.id="chatcmpl-1" gen_ai.response.model="m-2025" gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5 gen_ai.usage.cache_read.input_tokens=4 gen_ai.usage.reasoning.output_tokens=2}
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.provider.name="openai" gen_ai.request.model="m" gen_ai.request.stream=true openinference.span.kind="LLM" otel.name=chat m gen_ai.response.time_to_first_chunk=0.0 gen_ai.response.id="chatcmpl-1" gen_ai.response.model="m-2025" gen_ai.response.finish_reasons=["stop"] gen_ai.usage.input_tokens=10 gen_ai.usage.output_tokens=5 gen_ai.usage.cache_read.input_tokens=4 gen_ai.usage.reasoning.output_tokens=2}
    "#);
}

#[tokio::test(start_paused = true)]
async fn failures_and_attempts_are_told() {
    let broken =
        ScriptedReply::in_pieces(["Once"]).but_then(fails(LlmErrorKind::InterruptedStream));
    let script = ScriptedClient::default()
        .then(fails(LlmErrorKind::RateLimit))
        .then("Hi.")
        .then(broken);
    let client = Tracing::new(Retry::new(
        Tracing::new(script).with_model("inner"),
        Backoff::of::<2>(),
    ))
    .with_model("outer");

    let lines = spans(async {
        ask(&client).await.unwrap();
        follow(&client).await.unwrap_err();
    });
    insta::assert_snapshot!(lines.await, @r#"
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="outer" openinference.span.kind="LLM" otel.name=chat outer}:chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="inner" openinference.span.kind="LLM" otel.name=chat inner error.type="rate_limit" otel.status_code="ERROR"}
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="outer" openinference.span.kind="LLM" otel.name=chat outer}:chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="inner" openinference.span.kind="LLM" otel.name=chat inner gen_ai.response.finish_reasons=["stop"]}
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="outer" openinference.span.kind="LLM" otel.name=chat outer gen_ai.response.finish_reasons=["stop"]}
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="outer" gen_ai.request.stream=true openinference.span.kind="LLM" otel.name=chat outer gen_ai.response.time_to_first_chunk=0.0}:chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="inner" gen_ai.request.stream=true openinference.span.kind="LLM" otel.name=chat inner gen_ai.response.time_to_first_chunk=0.0 error.type="interrupted_stream" otel.status_code="ERROR"}
    INFO chat{otel.kind="client" gen_ai.operation.name="chat" gen_ai.request.model="outer" gen_ai.request.stream=true openinference.span.kind="LLM" otel.name=chat outer gen_ai.response.time_to_first_chunk=0.0 error.type="interrupted_stream" otel.status_code="ERROR"}
    "#);
}

/// What the conversation was about is told only when asked for, and never the data of images.
#[tokio::test(start_paused = true)]
async fn the_conversation_is_told_only_when_asked_for() {
    let told = async |content| {
        let reply = asks().with_reasoning("Hm.");
        let client = Tracing::new(ScriptedClient::new([reply.clone(), reply]));
        let client = client.with_content(content);
        let system = ["Be brief.", "Be kind."].map(Message::system);
        let mut messages: Messages = system.into_iter().collect();
        messages.extend(with_tools().messages().iter().cloned());
        messages.extend([Message::system("Now.")]);
        let request = with_tools().with_messages(messages);
        let lines = spans(async {
            client.complete(request.clone()).await.unwrap();
            let reply = client.stream(request).await.unwrap();
            reply.collect().await.unwrap();
        });
        lines.await.replace(" gen_ai", "\ngen_ai")
    };

    let silent = told(false).await;
    for word in ["brief", "weather", "rain", "iVBOR", "Again", "Hm."] {
        assert!(!silent.contains(word), "{silent}");
    }
    let told = told(true).await;
    let (whole, streamed) = told.split_once("\nINFO").unwrap();
    assert!(streamed.ends_with(whole.split_once("gen_ai.response").unwrap().1));
    insta::assert_snapshot!(whole, @r#"
    INFO chat{otel.kind="client"
    gen_ai.operation.name="chat" openinference.span.kind="LLM"
    gen_ai.input.messages=[{"parts":[{"content":"Be brief.","type":"text"}],"role":"system"},{"parts":[{"content":"Be kind.","type":"text"}],"role":"system"},{"parts":[{"characters":12,"mime_type":"image/png","modality":"image","type":"blob"},{"content":"Where is this, and does it rain?","type":"text"}],"role":"user"},{"parts":[{"content":"Let me see.","type":"text"},{"arguments":{"city":"Bergen"},"id":"call_1","name":"weather","type":"tool_call"}],"role":"assistant"},{"parts":[{"id":"call_1","response":"no connection","type":"tool_call_response"}],"role":"tool"},{"parts":[{"content":"Now.","type":"text"}],"role":"system"}]
    gen_ai.tool.definitions=[{"description":"The weather in a city.","name":"weather","parameters":{"type":"object"},"type":"function"}]
    gen_ai.response.finish_reasons=["tool_calls"]
    gen_ai.output.messages=[{"finish_reason":"tool_calls","parts":[{"content":"Hm.","type":"reasoning"},{"content":"Again.","type":"text"},{"arguments":{"city":"Bergen"},"id":"call_1","name":"weather","type":"tool_call"}],"role":"assistant"}]}
    "#);
}
