//! Forks, scores, merges, changes of strategy, and undo.

use cogwork_mcp::{Server, ServerLimits};
use serde_json::{Value, json};

use super::{pretty, refused, session, session_text, think};
use crate::support::{Client, connect};

/// Begins a calculation with two branches, `double` and `square`.
async fn calculation(client: &Client) {
    let begin = json!({
        "strategy": "scratchpad",
        "sessionId": "sum",
        "stage": "scratchpad_initialization",
        "thought": "x is 3",
        "parameters": {"state_variables": {"x": 3}},
    });
    think(client, begin).await;

    for (name, x) in [("double", 6), ("square", 9)] {
        let step = json!({
            "branchFrom": 1,
            "branch": name,
            "stage": "iterative_calculation",
            "thought": format!("x becomes {x}"),
        });
        let answer = think(client, step).await;
        assert_eq!(answer["branch"]["name"], name);
        assert_eq!(answer["branch"]["isCurrent"], true);

        let tracked = json!({
            "stage": "state_tracking",
            "thought": format!("x is {x}"),
            "parameters": {"state_variables": {"x": x}},
        });
        think(client, tracked).await;
        session(client, json!({"operation": "score", "score": x})).await;
    }
}

#[tokio::test]
async fn branches_are_scored_merged_and_shown() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let best = session(&client, json!({"operation": "select_best"})).await;
    assert_eq!(best["branch"]["name"], "square");
    assert_eq!(best["branch"]["score"], 9.0);

    let merge = json!({
        "operation": "merge",
        "branches": ["double"],
        "thought": "Squaring is better.",
    });
    let merged = session(&client, merge).await;
    assert_eq!(merged["thought"], 6);

    let shown = session(&client, json!({"operation": "show", "offset": 5})).await;
    let record = &shown["page"][0]["merged"];
    insta::assert_snapshot!(pretty(record));
    let shown = session_text(&client, json!({"operation": "show"})).await;
    insta::assert_snapshot!(shown);
}

#[tokio::test]
async fn a_branch_is_switched_to_and_pruned() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let current = json!({"operation": "prune", "branch": "square"});
    let (line, kind) = refused(&client, "think_session", current).await;
    assert_eq!(kind, "current_branch");
    assert!(line.contains("switch to a different one first"), "{line}");

    session(&client, json!({"operation": "switch", "branch": "main"})).await;
    let pruned = session(&client, json!({"operation": "prune", "branch": "square"})).await;
    assert_eq!(pruned["branch"]["name"], "main");
    assert_eq!(pruned["otherBranches"], json!(["double"]));

    let fork = json!({"operation": "fork", "branch": "fresh", "from": 1});
    let forked = session_text(&client, fork).await;
    insta::assert_snapshot!(forked);
    let unknown = json!({"operation": "switch", "branch": "triple"});
    let (line, kind) = refused(&client, "think_session", unknown).await;
    assert_eq!(kind, "no_such_branch");
    assert_eq!(
        line,
        "there is no branch `triple`; expected `main`, `double`, `square` or `fresh`. Nothing has changed."
    );
}

#[tokio::test]
async fn a_thought_on_another_branch_leaves_the_current_one() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let elsewhere = json!({
        "branch": "double",
        "stage": "continuation_decision",
        "thought": "It is done.",
    });
    let answer = think(&client, elsewhere).await;
    assert_eq!(answer["branch"]["name"], "double");
    assert_eq!(answer["branch"]["isCurrent"], false);

    let here = think(&client, json!({"thought": "Still nine."})).await;
    assert_eq!(here["branch"]["name"], "square");
}

#[tokio::test]
async fn later_thoughts_of_a_branch_may_repeat_where_it_begins() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let again = json!({
        "branchFromThought": 1,
        "branchId": "double",
        "stage": "continuation_decision",
        "thought": "It is done.",
    });
    let answer = think(&client, again).await;
    assert_eq!(answer["branch"]["thoughts"], 3);

    let elsewhere = json!({"branchFrom": 2, "branch": "double", "thought": "No."});
    let (_, kind) = refused(&client, "think", elsewhere).await;
    assert_eq!(kind, "branch_name");
}

#[tokio::test]
async fn a_refused_thought_makes_no_branch() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let illegal = json!({
        "branchFrom": 1,
        "branch": "third",
        "stage": "final_response",
        "thought": "3",
    });
    let (_, kind) = refused(&client, "think", illegal).await;
    assert_eq!(kind, "refused");

    let shown = session(&client, json!({"operation": "show"})).await;
    let names: Vec<&Value> = shown["branches"]
        .as_array()
        .expect("branches")
        .iter()
        .map(|branch| &branch["name"])
        .collect();
    assert_eq!(names, ["main", "double", "square"]);
}

#[tokio::test]
async fn undo_removes_the_last_thought_if_it_is_the_expected_one() {
    let client = connect(Server::builder()).await;
    calculation(&client).await;

    let other = json!({"operation": "undo", "last": 4});
    let (line, kind) = refused(&client, "think_session", other).await;
    assert_eq!(kind, "not_last");
    assert_eq!(line, "the last thought is 5, not 4. Nothing has changed.");

    let undone = session(&client, json!({"operation": "undo", "last": 5})).await;
    assert_eq!(undone["thought"], 4);
    assert_eq!(undone["stage"], "iterative_calculation");
    assert_eq!(undone["thoughts"], 4);

    for _ in 0..3 {
        session(&client, json!({"operation": "undo"})).await;
    }
    let (line, kind) = refused(&client, "think_session", json!({"operation": "undo"})).await;
    assert_eq!(kind, "forked");
    assert!(line.contains("the branch `double` was forked"), "{line}");
}

#[tokio::test]
async fn a_strategy_is_changed_and_nested() {
    let client = connect(Server::builder()).await;
    let begin = json!({"strategy": "linear", "sessionId": "way", "thought": "How far is it?"});
    think(&client, begin).await;

    let other = json!({"strategy": "react", "thought": "I search."});
    let (line, kind) = refused(&client, "think", other).await;
    assert_eq!(kind, "other_strategy");
    assert!(line.contains("`change_strategy`"), "{line}");

    let change = json!({
        "operation": "change_strategy",
        "strategy": "react",
        "thought": "I need tools.",
    });
    let changed = session(&client, change).await;
    assert_eq!(changed["strategy"], "react");
    assert_eq!(changed["stage"], "problem_reception");

    let part = json!({
        "operation": "begin_part",
        "strategy": "self_ask",
        "thought": "First a smaller question.",
    });
    let part = session(&client, part).await;
    assert_eq!(part["strategy"], "self_ask");

    let list = session(&client, json!({"operation": "list", "strategy": "react"})).await;
    assert_eq!(list["sessions"][0]["strategy"], "react");
    session(&client, json!({"operation": "undo"})).await;
    session(&client, json!({"operation": "undo"})).await;
    let list = session(&client, json!({"operation": "list", "strategy": "linear"})).await;
    assert_eq!(list["sessions"][0]["session"], "way");
}

#[tokio::test]
async fn a_branch_ends_early_only_if_the_session_allows_it() {
    let client = connect(Server::builder()).await;
    let ends = json!({"thought": "51.", "nextThoughtNeeded": "False"});

    session(&client, json!({"operation": "new", "strategy": "linear"})).await;
    let (_, kind) = refused(&client, "think", ends.clone()).await;
    assert_eq!(kind, "early_end");

    let new = json!({"operation": "new", "strategy": "linear", "allowEarlyEnd": true});
    session(&client, new).await;
    let ended = think(&client, ends).await;
    assert_eq!(ended["branch"]["status"], "complete");
    assert_eq!(ended["next"], json!([]));
}

#[tokio::test]
async fn limits_are_named_when_they_are_reached() {
    let limits = ServerLimits {
        thoughts: 2,
        branches: 2,
        thought_bytes: 20,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;
    let new = json!({"operation": "new", "strategy": "linear"});
    session(&client, new).await;

    let long = json!({"thought": "x".repeat(21)});
    let (line, kind) = refused(&client, "think", long).await;
    assert_eq!(kind, "argument");
    assert_eq!(
        line,
        "`thought` is 21 bytes long, expected at most 20 bytes"
    );

    let long = json!({"thought": "x", "parameters": {"of": "x".repeat(20)}});
    let (line, _) = refused(&client, "think", long).await;
    assert_eq!(
        line,
        "`parameters` is 29 bytes long, expected at most 20 bytes"
    );

    think(&client, json!({"thought": "one"})).await;
    session(&client, json!({"operation": "fork", "branch": "side"})).await;
    let fork = json!({"operation": "fork"});
    let (line, kind) = refused(&client, "think_session", fork).await;
    assert_eq!(kind, "full");
    assert!(
        line.starts_with("the limit of 2 branches is reached"),
        "{line}"
    );

    think(&client, json!({"thought": "two"})).await;
    let (line, _) = refused(&client, "think", json!({"thought": "three"})).await;
    assert!(
        line.starts_with("the limit of 2 thoughts is reached"),
        "{line}"
    );
}

#[tokio::test]
async fn the_number_of_changes_is_limited() {
    let limits = ServerLimits {
        thoughts: 2,
        ..ServerLimits::default()
    };
    let client = connect(Server::builder().with_limits(limits)).await;
    think(&client, json!({"strategy": "linear", "thought": "a"})).await;

    for _ in 1..20 {
        session(&client, json!({"operation": "score", "score": 5})).await;
    }
    let score = json!({"operation": "score", "score": 6});
    let (line, kind) = refused(&client, "think_session", score).await;
    assert_eq!(
        line,
        "the session was changed 20 times, which is the limit; begin another one. Nothing has \
         changed."
    );
    assert_eq!(kind, "full");

    let shown = session(&client, json!({"operation": "show"})).await;
    assert_eq!(shown["branch"]["score"], 5.0);
}
