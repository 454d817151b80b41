//! Settings for one run, without another node.

use std::sync::{Arc, Mutex};

use cogwork_cot::{
    ChainOfThought, ChatRequest, Format, Limit, Limits, LlmError, LlmErrorKind, ReasoningEnd,
    ReasoningEvent, RunOptions, ScriptedClient,
};

use crate::node::support::{EARLY, FIRST, LAST, reasoning};

fn two_thoughts() -> Limits {
    Limits::default().with_thoughts(2)
}

#[tokio::test]
async fn each_run_has_its_own_limits_and_request() {
    let client = ScriptedClient::new([FIRST, EARLY, LAST]);
    let flow = ChainOfThought::new(client.clone())
        .with_request(ChatRequest::default().with_temperature(0.5))
        .into_flow();

    let options = RunOptions::default()
        .with_limits(two_thoughts())
        .with_request(ChatRequest::default().with_max_tokens(900));
    let mut limited = reasoning().with_options(options);
    flow.run(&mut limited).await.unwrap();
    let limit = Limit::Thoughts(2);
    assert_eq!(limited.end_reason(), Some(ReasoningEnd::Limit(limit)));

    let mut unlimited = reasoning();
    flow.run(&mut unlimited).await.unwrap();
    assert!(unlimited.is_complete());

    let requests = client.requests();
    assert_eq!(requests[0].max_tokens(), Some(900));
    assert_eq!(requests[0].temperature(), None);
    assert_eq!(requests[2].max_tokens(), None);
    assert_eq!(requests[2].temperature(), Some(0.5));
}

#[test]
fn options_are_neither_saved_nor_compared() {
    let options = RunOptions::default().with_limits(two_thoughts());
    let with_options = reasoning().with_options(options);
    assert_eq!(with_options, reasoning());

    let saved = serde_json::to_string(&with_options).unwrap();
    assert_eq!(saved, serde_json::to_string(&reasoning()).unwrap());
}

#[tokio::test]
async fn each_run_can_have_its_own_reporter() {
    let of_node: Arc<Mutex<u32>> = Arc::default();
    let of_run: Arc<Mutex<u32>> = Arc::default();
    let counting = |count: &Arc<Mutex<u32>>| {
        let count = Arc::clone(count);
        move |_: &ReasoningEvent| *count.lock().unwrap() += 1
    };

    let flow = ChainOfThought::new(ScriptedClient::new([LAST]))
        .with_reporter(counting(&of_node))
        .into_flow();
    let options = RunOptions::default().with_reporter(counting(&of_run));
    flow.run(&mut reasoning().with_options(options))
        .await
        .unwrap();

    assert_eq!(*of_node.lock().unwrap(), 0);
    assert!(*of_run.lock().unwrap() > 0);
}

/// A client whose server refuses JSON mode once.
fn refusing() -> ScriptedClient {
    let message = "response_format is not supported";
    let refusal = LlmError::new(LlmErrorKind::InvalidRequest, message).with_status(400);
    ScriptedClient::default()
        .then(refusal)
        .then(LAST)
        .then(LAST)
}

/// The number of requests of a run with `node`.
async fn requests(node: &ChainOfThought, options: RunOptions, client: &ScriptedClient) -> usize {
    let before = client.requests().len();
    let mut reasoning = reasoning().with_options(options);
    node.clone().into_flow().run(&mut reasoning).await.unwrap();
    client.requests().len() - before
}

#[tokio::test]
async fn a_clone_with_other_settings_shares_what_is_known_about_the_server() {
    let client = refusing();
    let node = ChainOfThought::new(client.clone()).with_format(Format::Json);
    let derived = node
        .clone()
        .with_limits(two_thoughts())
        .with_request(ChatRequest::default().with_max_tokens(900));

    assert_eq!(requests(&derived, RunOptions::default(), &client).await, 2);
    assert_eq!(requests(&node, RunOptions::default(), &client).await, 1);
}

#[tokio::test]
async fn another_server_is_asked_for_every_form() {
    let first = refusing();
    let node = ChainOfThought::new(first.clone()).with_format(Format::Json);
    assert_eq!(requests(&node, RunOptions::default(), &first).await, 2);

    let second = refusing();
    let options = RunOptions::default().with_client(second.clone());
    assert_eq!(requests(&node, options.clone(), &second).await, 2);

    // The options remember it.
    assert_eq!(requests(&node, options, &second).await, 1);

    let third = refusing();
    let other = node.clone().with_client(third.clone());
    assert_eq!(requests(&other, RunOptions::default(), &third).await, 2);
}

#[tokio::test]
async fn another_client_of_the_same_server_is_not() {
    let first = refusing();
    let node = ChainOfThought::new(first.clone()).with_format(Format::Json);
    assert_eq!(requests(&node, RunOptions::default(), &first).await, 2);

    let second = ScriptedClient::new([LAST, LAST]);
    let options = RunOptions::default().with_client_of_same_server(second.clone());
    assert_eq!(requests(&node, options, &second).await, 1);

    let other = node.with_client_of_same_server(second.clone());
    assert_eq!(requests(&other, RunOptions::default(), &second).await, 1);
}
