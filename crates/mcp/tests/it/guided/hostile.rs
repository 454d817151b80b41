//! Arguments and replies of any kind.

use boon::{Compiler, Draft, SchemaIndex, Schemas};
use cogwork_mcp::Server;
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::mind::MINDS;
use super::support::{Host, ids, reply_to};
use crate::support::{call, text};

/// Checks results against the schema that a tool declares.
struct Declared {
    schemas: Schemas,
    index: SchemaIndex,
}

impl Declared {
    async fn of(host: &Host, tool: &str) -> Self {
        let tools = host.client.list_all_tools().await.expect("tools");
        let found = tools.into_iter().find(|known| known.name == tool);
        let schema = found.and_then(|tool| tool.output_schema).expect("a schema");

        let mut schemas = Schemas::new();
        let mut compiler = Compiler::new();
        compiler.set_default_draft(Draft::V2020_12);
        let schema = Value::Object(schema.as_ref().clone());
        compiler
            .add_resource("result.json", schema)
            .expect("a schema");
        let index = compiler
            .compile("result.json", &mut schemas)
            .expect("a schema");
        Self { schemas, index }
    }

    fn check(&self, result: &Value) {
        let checked = self.schemas.validate(result, self.index);
        assert!(checked.is_ok(), "{}\n{result}", checked.unwrap_err());
    }
}

/// Checks what holds for every result.
fn check(declared: &Declared, view: &Value) {
    declared.check(view);

    let questions = view["questions"].as_array().expect("a list");
    assert_eq!(view["status"] == "open", !questions.is_empty(), "{view}");
    assert_eq!(view["status"] == "open", view["end"].is_null(), "{view}");

    let budget = &view["budget"];
    let replies = budget["replies"].as_u64().expect("a number");
    assert!(Some(replies) <= budget["maxReplies"].as_u64(), "{view}");
}

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
            "budget",
            "tools",
            "sessionId",
            "session_id",
            "reply",
            "replies",
            "question",
            "failed",
            "conclude",
            "full",
            "trace",
            "name",
            "description",
            "inputSchema",
            "seconds",
            "thoughts",
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
    let declared = runtime.block_on(Declared::of(&host, "begin"));
    let arguments = prop::collection::btree_map(any_name(), any_value(), 0..6);
    let problem = prop::option::of("\\PC{1,20}");
    let cases = (
        prop::sample::select(vec!["begin", "answer"]),
        arguments,
        problem,
    );

    proptest!(ProptestConfig::with_cases(80), |((tool, arguments, problem) in cases)| {
        let mut arguments: Map<String, Value> = arguments.into_iter().collect();
        if let Some(problem) = problem {
            arguments.insert("problem".to_owned(), problem.into());
        }

        let result = runtime.block_on(call(&host.client, tool, Value::Object(arguments)));
        let is_safe = !text(&result).contains('\u{1b}');
        prop_assert!(is_safe, "{}", text(&result));
        if result.is_error != Some(true) {
            check(&declared, result.structured_content.as_ref().expect("data"));
        }
    });
}

#[test]
fn any_replies_end_within_the_budget_and_survive_restarts() {
    let runtime = runtime();
    let first = runtime.block_on(Host::with(Server::builder()));
    let declared = runtime.block_on(Declared::of(&first, "answer"));

    let mind = prop::sample::select((0..MINDS.len()).collect::<Vec<_>>());
    let turns = prop::collection::vec((any_reply(), any::<prop::sample::Index>(), 0..10_u8), 1..20);

    proptest!(ProptestConfig::with_cases(24), |(mind in mind, turns in turns, replies in 1..12_u32)| {
        runtime.block_on(async {
            let mut host = first.beside().await;
            let mut arguments = MINDS[mind].beginning();
            arguments["budget"] = json!({"replies": replies});
            let mut view = host.begin(arguments).await;
            let session = view["sessionId"].clone();

            for (reply, index, event) in turns {
                check(&declared, &view);
                if view["status"] != "open" {
                    break;
                }

                let questions = view["questions"].as_array().expect("a list").clone();
                let question = &questions[index.index(questions.len())]["id"];
                let call = match event {
                    0 => json!({"sessionId": session, "conclude": true}),
                    _ => json!({"sessionId": session, "question": question, "reply": reply}),
                };
                view = host.answer(call).await;

                if event == 1 {
                    host.restart().await;
                }
            }

            host.restart().await;
            let resumed = host.answer(json!({"sessionId": session})).await;
            check(&declared, &resumed);
            for part in ["status", "questions", "answer", "end"] {
                assert_eq!(resumed[part], view[part], "{part}");
            }
        });
    });
}

#[tokio::test]
async fn a_trace_is_bounded() {
    let host = Host::new().await;
    let budget = json!({"tokens": 100_000_000});
    let begin = json!({"problem": "p", "sessionId": "s", "budget": budget});
    let mut view = host.begin(begin).await;

    for number in 1..=6 {
        let thought = number.to_string().repeat(240_000);
        let reply = format!(
            "```yaml\ncurrent_thinking: {thought}\nplanning:\n- description: Think\n  \
             status: Pending\n- description: Conclusion\n  status: Pending\n\
             next_thought_needed: true\n```"
        );
        let question = ids(&view).remove(0);
        view = host.answer(reply_to("s", &question, &reply)).await;
        assert_eq!(view["status"], "open", "{}", view["end"]);
    }

    let trace = host.answer(json!({"sessionId": "s", "trace": true})).await;
    let thoughts = trace["thoughts"].as_array().expect("thoughts");
    let numbers = thoughts.iter().map(|thought| &thought["number"]);
    assert_eq!(numbers.collect::<Vec<_>>(), [3, 4, 5, 6]);
}
