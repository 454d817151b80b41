//! Arguments and replies of any kind.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::mind::MINDS;
use super::support::{Host, View};
use crate::support::text;

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,20}".prop_map(Value::from),
        Just(json!("[{\"question\": \"q1\", \"reply\": \"{}\"}]")),
    ];
    leaf.prop_recursive(3, 20, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(any_name(), inner, 0..5)
                .prop_map(|map| map.into_iter().collect()),
        ]
    })
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![
        prop::sample::select(vec![
            "problem",
            "strategy",
            "tools",
            "sessionId",
            "session_id",
            "reply",
            "question",
            "failed",
            "conclude",
            "maxReplies",
            "name",
            "description",
            "inputSchema",
        ])
        .prop_map(str::to_owned),
        "\\PC{0,8}",
    ]
}

/// Texts that are parts of replies, whole replies, and neither.
fn any_reply() -> impl Strategy<Value = String> {
    let parts = prop::sample::select(vec![
        "thought: I think.",
        "answer: 5",
        "answer: N/A",
        "holds: no",
        "holds: yes",
        "steps:\n- one\n- two",
        "results:\n- 1\n- 2",
        "next: branch_creation",
        "branch_from_thought: 99",
        "branch_id: \u{1b}[2J",
        "revises_thought: -1",
        "thoughts_needed: 1e9",
        "hypothesis: 7",
        "verification: none",
        "question: ?",
        "principle: !",
        "approach: a",
        "application: b",
        "solution: c",
        "sub_question: Why?",
        "sub_question_answer: So.",
        "state_variables: {\"a\": 1}",
        "done: yes",
        "action: height",
        "action: finish",
        "action_input: {\"of\": 1}",
        "#E1 = height{}",
        "Plan: x. #E2 = minus[#E1]",
        "approaches: [{\"id\": \"A\", \"description\": \"d\", \"promise\": 5}]",
        "proposals:\n- a\n- b",
        "evaluation_score: 3",
        "evaluation_score: 1e400",
        "solved: no",
        "```yaml",
        "```",
        "{\"a\": [",
        "current_thinking: |\n  Hm.",
        "planning:\n- description: Conclusion\n  status: Done\n  result: x",
        "next_thought_needed: false",
        "next_thought_needed: true",
        "tool_calls:\n- name: height",
        "&a [*a, *a]",
        "\u{202e}",
        "\0",
    ]);
    prop::collection::vec(
        prop_oneof![4 => parts.prop_map(str::to_owned), 1 => "\\PC{0,30}"],
        0..6,
    )
    .prop_map(|parts| parts.join("\n"))
}

fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

#[test]
fn any_arguments_get_an_answer() {
    let runtime = runtime();
    let host = runtime.block_on(Host::new());
    let arguments = prop::collection::btree_map(any_name(), any_value(), 0..6);
    let problem = prop::option::of("\\PC{1,20}");

    proptest!(ProptestConfig::with_cases(80), |((arguments, problem) in (arguments, problem))| {
        let mut arguments: Map<String, Value> = arguments.into_iter().collect();
        if let Some(problem) = problem {
            arguments.insert("problem".to_owned(), problem.into());
        }

        let result = runtime.block_on(host.client.call("reason", Value::Object(arguments)));
        let is_safe = !text(&result).contains('\u{1b}');
        prop_assert!(is_safe, "{}", text(&result));
        prop_assert!(!text(&result).is_empty());
    });
}

#[test]
fn any_replies_end_within_the_budget_and_survive_restarts() {
    let runtime = runtime();
    let first = runtime.block_on(Host::new());
    let mind = prop::sample::select((0..MINDS.len()).collect::<Vec<_>>());
    let turns = prop::collection::vec((any_reply(), any::<bool>()), 1..20);

    proptest!(ProptestConfig::with_cases(24), |(mind in mind, turns in turns, most in 1..12_u64)| {
        runtime.block_on(async {
            let mut host = first.beside().await;
            let mut arguments = MINDS[mind].beginning();
            arguments["maxReplies"] = json!(most);
            let mut view = host.reason(arguments).await;

            for (reply, restarts) in turns {
                if !view.is_open() {
                    break;
                }
                view = host.reason(view.reply(reply)).await;
                check(&view, most);
                if restarts {
                    host.restart().await;
                }
            }

            host.restart().await;
            let resumed = host.look(&view).await;
            check(&resumed, most);
            assert_eq!(resumed.is_open(), view.is_open());
            assert_eq!(resumed.answer(), view.answer());
        });
    });
}

/// Checks what holds for every result.
fn check(view: &View, most: u64) {
    assert!(view.replies <= most, "{}", view.text);
    let has_ended = view.text.contains("The session has ended")
        || view.text.contains("The session has failed")
        || view.is_answered();
    assert_eq!(view.is_open(), !has_ended, "{}", view.text);
}
