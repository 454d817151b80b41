//! Branches, scores, merges, other strategies, and undo.

use cogwork_mcp::ServerLimits;
use serde_json::json;

use super::{builder, client, refused, session, think};
use crate::support::Client;

/// Begins a calculation with two branches, `double` and `square`.
async fn calculation() -> Client {
    let client = client().await;
    let begin = json!({
        "strategy": "scratchpad",
        "sessionId": "sum",
        "stage": "scratchpad_initialization",
        "thought": "x is 3",
        "parameters": {"state_variables": {"x": 3}},
    });
    think(&client, begin).await;

    for (name, x) in [("double", 6), ("square", 9)] {
        let step = json!({
            "branchFrom": 1,
            "branch": name,
            "stage": "iterative_calculation",
            "thought": format!("x becomes {x}"),
        });
        let answer = think(&client, step).await;
        let place = format!("branch `{name}` (open), ");
        assert!(answer.contains(&place), "{answer}");

        let tracked = json!({
            "stage": "state_tracking",
            "thought": format!("x is {x}"),
            "parameters": {"state_variables": {"x": x}},
        });
        think(&client, tracked).await;
        session(&client, json!({"operation": "score", "score": x})).await;
    }
    client
}

#[tokio::test]
async fn branches_are_scored_merged_and_shown() {
    let client = calculation().await;
    session(&client, json!({"operation": "switch", "branch": "double"})).await;

    let best = session(&client, json!({"operation": "switch"})).await;
    assert!(
        best.contains("branch `square` (open, score 9)") || best.contains("score 9"),
        "{best}"
    );

    let merge = json!({
        "operation": "merge",
        "branches": ["double"],
        "thought": "Squaring is better.",
    });
    let merged = session(&client, merge).await;
    assert!(merged.starts_with("Thought 6 is recorded. "), "{merged}");
    insta::assert_snapshot!(session(&client, json!({"operation": "show"})).await);
}

#[tokio::test]
async fn a_branch_is_switched_to_and_pruned() {
    let client = calculation().await;

    let prune = json!({"operation": "prune", "branch": "square"});
    let line = refused(&client, "think_session", prune.clone()).await;
    assert!(line.contains("switch to a different one first"), "{line}");

    session(&client, json!({"operation": "switch", "branch": "main"})).await;
    let pruned = session(&client, prune).await;
    assert!(
        pruned.contains("Other open branches: `double`."),
        "{pruned}"
    );

    let unknown = json!({"operation": "switch", "branch": "triple"});
    let line = refused(&client, "think_session", unknown).await;
    assert_eq!(
        line,
        "there is no branch `triple`; expected `main`, `double` or `square`. Nothing has changed."
    );
}

#[tokio::test]
async fn a_thought_on_another_branch_leaves_the_current_one() {
    let client = calculation().await;
    let elsewhere = json!({
        "branch": "double",
        "stage": "continuation_decision",
        "thought": "It is done.",
    });
    let answer = think(&client, elsewhere).await;
    assert!(
        answer.contains("branch `double` (open, not the current one"),
        "{answer}"
    );

    let here = think(&client, json!({"thought": "Still nine."})).await;
    assert!(here.contains("branch `square` (open, score 9)"), "{here}");
}

#[tokio::test]
async fn later_thoughts_of_a_branch_may_repeat_where_it_begins() {
    let client = calculation().await;
    let again = json!({
        "branchFrom": 1,
        "branch": "double",
        "stage": "continuation_decision",
        "thought": "It is done.",
    });
    think(&client, again).await;

    let elsewhere = json!({"branchFrom": 2, "branch": "double", "thought": "No."});
    let line = refused(&client, "think", elsewhere).await;
    assert!(
        line.starts_with("`double` cannot be the name of a branch"),
        "{line}"
    );
}

#[tokio::test]
async fn a_refused_thought_makes_no_branch() {
    let client = calculation().await;
    let illegal = json!({
        "branchFrom": 1,
        "branch": "third",
        "stage": "final_response",
        "thought": "3",
    });
    refused(&client, "think", illegal).await;

    let shown = session(&client, json!({"operation": "show"})).await;
    assert!(!shown.contains("third"), "{shown}");
}

#[tokio::test]
async fn undo_removes_the_last_thought_and_the_branch_that_it_began() {
    let client = calculation().await;
    for thought in [5, 4, 3, 2, 1] {
        let undone = session(&client, json!({"operation": "undo"})).await;
        let expected = format!("Thought {thought} is removed. ");
        assert!(undone.starts_with(&expected), "{undone}");
    }

    let begin = json!({"operation": "show"});
    let shown = session(&client, begin).await;
    assert!(!shown.contains("double"), "{shown}");
}

#[tokio::test]
async fn another_strategy_begins_another_session() {
    let client = client().await;
    let begin = json!({"strategy": "linear", "sessionId": "way", "thought": "How far is it?"});
    think(&client, begin).await;

    // The strategy may be repeated.
    let on = json!({"strategy": "linear", "thought": "From here."});
    assert!(
        think(&client, on)
            .await
            .starts_with("Thought 2 is recorded.")
    );

    let other = json!({"strategy": "react", "thought": "I need tools."});
    let begun = think(&client, other).await;
    assert!(begun.starts_with("Thought 1 is recorded."), "{begun}");
}

#[tokio::test]
async fn limits_are_named_when_they_are_reached() {
    let limits = ServerLimits {
        thoughts: 2,
        branches: 2,
        ..ServerLimits::default()
    };
    let client = Client::new(builder().with_limits(limits)).await;
    think(&client, json!({"strategy": "linear", "thought": "one"})).await;
    think(&client, json!({"branchFrom": 1, "thought": "two"})).await;
    let third = json!({"branchFrom": 1, "thought": "three"});
    let line = refused(&client, "think", third).await;
    assert!(
        line.starts_with("the limit of 2 branches is reached"),
        "{line}"
    );
    let line = refused(&client, "think", json!({"thought": "three"})).await;
    assert!(
        line.starts_with("the limit of 2 thoughts is reached"),
        "{line}"
    );

    for _ in 2..20 {
        session(&client, json!({"operation": "score", "score": 5})).await;
    }
    let score = json!({"operation": "score", "score": 6});
    let line = refused(&client, "think_session", score).await;
    assert_eq!(
        line,
        "the session was changed 20 times, which is the limit; begin another one"
    );
}
