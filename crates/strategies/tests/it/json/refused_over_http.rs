//! A server that refuses the forms one after the other, over a real socket.

use cogwork_llm::OpenAiClient;
use cogwork_strategies::{Call, Format, Solved, Solver, StrategyName};
use serde_json::{Value, json};

use super::scripts::{PROBLEM, replies};

#[path = "../../../../typed/tests/server/mod.rs"]
mod server;
use server::serve;

const NAME: StrategyName = StrategyName::ChainOfThought;

fn refusal(message: &str) -> (u16, Value) {
    (400, json!({"error": {"message": message}}))
}

fn reply(text: &str) -> (u16, Value) {
    let choice = json!({"message": {"content": text}, "finish_reason": "stop"});
    (200, json!({"choices": [choice]}))
}

/// Returns the result of a run and the requests, of a server that makes these refusals first.
async fn run(refusals: &[&str]) -> (Solved, Vec<Value>) {
    let refusals = refusals.iter().map(|message| refusal(message));
    let answers = refusals.chain(replies(NAME).into_iter().map(reply));
    let (address, server) = serve(answers.collect()).await;

    let client = OpenAiClient::builder(format!("http://{address}/v1"), "m");
    let client = WithoutStreaming(client.build().unwrap());
    let solved = Solver::new(client, NAME).solve(PROBLEM).await.unwrap();
    (solved, server.await.unwrap())
}

/// The scripted server answers with whole replies.
struct WithoutStreaming<C>(C);

#[cogwork_llm::async_trait]
impl<C: cogwork_llm::LlmClient> cogwork_llm::LlmClient for WithoutStreaming<C> {
    async fn complete(
        &self,
        request: cogwork_llm::ChatRequest,
    ) -> Result<cogwork_llm::ChatResponse, cogwork_llm::LlmError> {
        self.0.complete(request).await
    }

    fn capabilities(&self) -> cogwork_llm::Capabilities {
        let all = self.0.capabilities();
        all.without(cogwork_llm::Capability::Streaming)
    }
}

fn sent_formats(requests: &[Value]) -> Vec<String> {
    let format = |request: &Value| {
        let format = &request["response_format"];
        let bounds = format.to_string().contains("maxLength");
        match format["type"].as_str() {
            Some("json_schema") if bounds => "bounded schema".to_owned(),
            Some(other) => other.to_owned(),
            None => "none".to_owned(),
        }
    };
    requests.iter().map(format).collect()
}

fn formats(solved: &Solved) -> Vec<Format> {
    let format = |call: &Call| match call {
        Call::Model { format, .. } => *format,
        _ => Format::Text,
    };
    solved.trace().calls().iter().map(format).collect()
}

const SCHEMA: &str = "Invalid schema for response_format 'reply': 'maxLength' is not permitted.";
const FLAT: &str = "This response_format type is unavailable now";

#[tokio::test]
async fn a_server_that_takes_everything_is_asked_with_bounds() {
    let (solved, requests) = run(&[]).await;
    assert_eq!(sent_formats(&requests), ["bounded schema"; 3]);
    assert_eq!(formats(&solved), [Format::Schema; 3]);
}

#[tokio::test]
async fn a_server_that_refuses_bounds_is_asked_for_flat_schemas_from_then_on() {
    let (solved, requests) = run(&[SCHEMA]).await;
    assert_eq!(
        sent_formats(&requests),
        [
            "bounded schema",
            "json_schema",
            "json_schema",
            "json_schema"
        ]
    );
    assert_eq!(
        requests[1]["response_format"]["json_schema"]["strict"],
        true
    );
    assert_eq!(requests[0]["messages"], requests[1]["messages"]);
    assert_eq!(formats(&solved), [Format::FlatSchema; 3]);
}

#[tokio::test]
async fn a_server_that_refuses_schemas_is_asked_for_json_from_then_on() {
    let (solved, requests) = run(&[SCHEMA, FLAT]).await;
    assert_eq!(
        sent_formats(&requests),
        [
            "bounded schema",
            "json_schema",
            "json_object",
            "json_object",
            "json_object"
        ]
    );
    assert_eq!(formats(&solved), [Format::Json; 3]);
}

#[tokio::test]
async fn a_server_that_refuses_every_form_is_asked_for_lines_from_then_on() {
    let (solved, requests) = run(&[SCHEMA, FLAT, FLAT]).await;
    assert_eq!(
        sent_formats(&requests),
        [
            "bounded schema",
            "json_schema",
            "json_object",
            "none",
            "none",
            "none"
        ]
    );
    assert_eq!(formats(&solved), [Format::Text; 3]);
    assert_eq!(solved.answer(), Some("51"));
}
