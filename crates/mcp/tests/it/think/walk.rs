//! Walks through all strategies, and refusals on the way.

use cogwork_strategies::Strategies;
use serde_json::{Value, json};

use super::{client, needed, next_of, refused, session, think};
use crate::support::Client;

/// Walks to the end, to the last of the stages that may follow and weren't visited yet.
async fn walk(client: &Client, strategies: &Strategies, name: &str) -> Vec<String> {
    let strategy = strategies.get(name).expect("a strategy");
    let mut stage = strategy.start();
    let mut arguments = json!({"strategy": name});
    let mut visited = Vec::new();

    loop {
        arguments["stage"] = json!(stage.name);
        arguments["thought"] = json!(format!("I am in {}.", stage.name));
        arguments["parameters"] = Value::Object(needed(stage));
        let answer = think(client, arguments).await;

        let place = format!("stage `{}` of `{}`.", stage.name, strategy.name());
        assert!(answer.contains(&place), "{answer}");
        visited.push(stage.name.clone());

        let next = next_of(&answer);
        let expected: Vec<&str> = strategy.next(stage).map(|next| &*next.name).collect();
        assert_eq!(next, expected);

        if next.is_empty() {
            assert!(answer.contains("(complete)"), "{answer}");
            return visited;
        }
        let is_new = |name: &&&str| !visited.iter().any(|visited| visited == **name);
        let onward = next.iter().rev().find(is_new);
        stage = strategy
            .stage(onward.expect("a stage that leads on"))
            .expect("a stage");
        arguments = json!({});
    }
}

#[tokio::test]
async fn every_strategy_is_walked_to_its_final_stage() {
    let strategies = Strategies::built_in();
    // After a complete session, a strategy begins another one.
    let client = client().await;
    for strategy in strategies.iter() {
        let visited = walk(&client, &strategies, strategy.name()).await;
        let last = visited.last().expect("a stage");
        assert!(strategy.stage(last).expect("a stage").is_final);
    }
    let list = session(&client, json!({"operation": "list"})).await;
    assert_eq!(list.matches(", complete)").count(), 9, "{list}");
}

#[tokio::test]
async fn an_answer_tells_where_the_session_is_and_what_follows() {
    let client = client().await;
    let first = json!({
        "strategy": "react",
        "sessionId": "way",
        "purpose": "How long is the way?",
        "thought": "The way to the sea.",
    });
    insta::assert_snapshot!(think(&client, first).await);

    let second = json!({"stage": "initial_reasoning", "thought": "I must find it out."});
    insta::assert_snapshot!(think(&client, second).await);
}

#[tokio::test]
async fn a_refusal_says_what_is_accepted_and_changes_nothing() {
    let client = client().await;
    let first = json!({"strategy": "react", "sessionId": "way", "thought": "The way."});
    think(&client, first).await;

    let illegal = json!({"stage": "final_response", "thought": "Far."});
    insta::assert_snapshot!(client.refused("think", illegal).await);

    let legal = json!({"stage": "initial_reasoning", "thought": "I must look."});
    let answer = think(&client, legal).await;
    assert!(answer.starts_with("Thought 2 is recorded."), "{answer}");

    let incomplete = json!({
        "stage": "action_planning",
        "thought": "I search.",
        "parameters": {"tool": "search", "action": 7},
    });
    insta::assert_snapshot!(refused(&client, "think", incomplete).await);
}

#[tokio::test]
async fn a_refused_first_thought_begins_no_session() {
    let client = client().await;
    let first = json!({
        "strategy": "react",
        "sessionId": "way",
        "stage": "action_execution",
        "thought": "Go.",
    });

    insta::assert_snapshot!(client.refused("think", first).await);

    let again = json!({"sessionId": "way", "thought": "Go."});
    let missing = refused(&client, "think", again).await;
    assert_eq!(missing, "there is no session `way`");
}

#[tokio::test]
async fn stages_without_content_are_passed_and_folded() {
    let client = client().await;
    let first = json!({"strategy": "react", "sessionId": "way", "thought": "How far is it?"});
    think(&client, first).await;

    // Two stages further on; the one in between needs nothing.
    let plan = json!({
        "stage": "action_planning",
        "thought": "I search.",
        "parameters": {"action": "search"},
    });
    let answer = think(&client, plan).await;
    assert!(
        answer.starts_with(
            "Thought 3 is recorded. Before it, nothing was to say in `initial_reasoning`. "
        ),
        "{answer}"
    );

    let observed = json!({
        "stage": "observation_reception",
        "thought": "It is far.",
        "parameters": {"observation": "120 km"},
    });
    think(&client, observed).await;
    insta::assert_snapshot!(session(&client, json!({"operation": "show"})).await);

    // Where there is a choice, it has to be made.
    let skipped = json!({"stage": "final_response", "thought": "120 km"});
    let line = refused(&client, "think", skipped).await;
    assert!(
        line.ends_with("expected `reasoning_update`. Nothing has changed."),
        "{line}"
    );
}

#[tokio::test]
async fn ids_that_a_branch_has_already_are_not_repeated() {
    let client = client().await;
    let begin = json!({"strategy": "tree_of_thoughts", "thought": "24"});
    think(&client, begin).await;
    let explored = json!({
        "stage": "approach_exploration",
        "thought": "Two ways.",
        "parameters": {"approaches": [
            {"id": "add", "description": "add", "promise": 5},
            {"id": "multiply", "description": "multiply", "promise": 8},
        ]},
    });
    think(&client, explored).await;

    // The name of the branch is the id of the approach.
    let branch = json!({
        "stage": "branch_creation",
        "branchFrom": 2,
        "branch": "multiply",
        "thought": "I multiply.",
    });
    think(&client, branch).await;
    let evaluated = json!({
        "stage": "branch_evaluation",
        "thought": "Good.",
        "parameters": {"evaluation_score": 9},
    });
    let line = refused(&client, "think", evaluated.clone()).await;
    assert!(line.contains("expected `branch_development`"), "{line}");

    let developed = json!({"stage": "branch_development", "thought": "4 times 6."});
    think(&client, developed).await;
    think(&client, evaluated).await;
    let shown = session(&client, json!({"operation": "show"})).await;
    assert_eq!(
        shown.matches("- `approach_id`: `multiply`").count(),
        3,
        "{shown}"
    );
}

#[tokio::test]
async fn what_a_parameter_accepts_is_described_with_everything_inside_it() {
    let client = client().await;
    for strategy in ["tree_of_thoughts", "scratchpad"] {
        let first = json!({"strategy": strategy, "sessionId": strategy, "thought": "24"});
        insta::assert_snapshot!(strategy, think(&client, first).await);
    }
}
