//! Walks through all strategies, and refusals on the way.

use cogwork_mcp::Server;
use cogwork_strategies::Strategies;
use serde_json::{Value, json};

use super::{needed, next_of, pretty};
use crate::support::{Client, call, connect, text};

/// Walks to the end, to the last of the stages that may follow and weren't visited yet.
async fn walk(client: &Client, strategies: &Strategies, name: &str) -> Vec<String> {
    let strategy = strategies.get(name).expect("a strategy");
    let mut stage = strategy.start();
    let mut arguments = json!({"strategy": name});
    let mut visited = Vec::new();

    loop {
        arguments["stage"] = json!(stage.name());
        arguments["thought"] = json!(format!("I am in {}.", stage.name()));
        arguments["parameters"] = Value::Object(needed(stage));
        let result = call(client, "think", arguments).await;
        assert_eq!(result.is_error, Some(false), "{}", text(&result));

        let answer = result.structured_content.expect("data");
        assert_eq!(answer["stage"], stage.name());
        assert_eq!(answer["strategy"], strategy.name());
        visited.push(stage.name().to_owned());

        let next = next_of(&answer);
        let expected: Vec<&str> = strategy.next(stage).map(|next| next.name()).collect();
        assert_eq!(next, expected);

        if next.is_empty() {
            assert_eq!(answer["branch"]["status"], "complete");
            return visited;
        }
        let mut onward = next.iter().rev().filter(|name| !visited.contains(name));
        let onward = onward.next().expect("a stage that leads on");
        stage = strategy.stage(onward).expect("a stage");
        arguments = json!({});
    }
}

#[tokio::test]
async fn every_strategy_is_walked_to_its_final_stage() {
    let strategies = Strategies::built_in();
    for strategy in strategies.iter() {
        let client = connect(Server::builder()).await;
        let visited = walk(&client, &strategies, strategy.name()).await;
        let last = visited.last().expect("a stage");
        assert!(strategy.stage(last).expect("a stage").is_final());
    }
}

#[tokio::test]
async fn an_answer_tells_where_the_session_is_and_what_follows() {
    let client = connect(Server::builder()).await;
    let first = json!({
        "strategy": "react",
        "sessionId": "way",
        "purpose": "How long is the way?",
        "thought": "The way to the sea.",
    });
    let begun = call(&client, "think", first).await;
    insta::assert_snapshot!(text(&begun));

    let second = json!({"stage": "initial_reasoning", "thought": "I must find it out."});
    let second = call(&client, "think", second).await;
    insta::assert_snapshot!(text(&second));
    insta::assert_snapshot!(pretty(second.structured_content));
}

#[tokio::test]
async fn a_refusal_is_data_and_changes_nothing() {
    let client = connect(Server::builder()).await;
    let first = json!({"strategy": "react", "sessionId": "way", "thought": "The way."});
    call(&client, "think", first).await;

    let illegal = json!({"stage": "final_response", "thought": "Far."});
    let refused = call(&client, "think", illegal).await;
    assert_eq!(refused.is_error, Some(true));
    insta::assert_snapshot!(text(&refused));
    insta::assert_snapshot!(pretty(refused.structured_content));

    let legal = json!({"stage": "initial_reasoning", "thought": "I must look."});
    let answer = call(&client, "think", legal).await;
    let answer = answer.structured_content.expect("data");
    assert_eq!(answer["thought"], 2);

    let incomplete = json!({
        "stage": "action_planning",
        "thought": "I search.",
        "parameters": {"tool": "search", "action": 7},
    });
    let refused = call(&client, "think", incomplete).await;
    let error = &refused.structured_content.expect("data")["error"];
    insta::assert_snapshot!(pretty(error));
}

#[tokio::test]
async fn a_refused_first_thought_begins_no_session() {
    let client = connect(Server::builder()).await;
    let first = json!({
        "strategy": "react",
        "sessionId": "way",
        "stage": "action_execution",
        "thought": "Go.",
    });

    let refused = call(&client, "think", first).await;
    assert_eq!(refused.is_error, Some(true));
    insta::assert_snapshot!(text(&refused));

    let again = json!({"sessionId": "way", "thought": "Go."});
    let missing = call(&client, "think", again).await;
    assert_eq!(text(&missing), "there is no session `way`");
}

#[tokio::test]
async fn what_a_parameter_accepts_is_described_with_everything_inside_it() {
    let client = connect(Server::builder()).await;
    for strategy in ["tree_of_thoughts", "scratchpad"] {
        let first = json!({"strategy": strategy, "sessionId": strategy, "thought": "24"});
        let begun = call(&client, "think", first).await;
        insta::assert_snapshot!(strategy, text(&begun));
    }
}
