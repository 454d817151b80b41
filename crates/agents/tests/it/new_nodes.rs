//! The node types `map`, `branches`, `template` and `tool`, and agents that answer with a value.

use cogwork_agents::{FlowState, Loader, Made, Making};
use cogwork_flow::engine::MemoryJournal;
use cogwork_flow::from_fn;
use cogwork_flow::watch::EventKind;
use cogwork_tools::{Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::support::{file, problems, run_flow, text};

#[derive(Deserialize, JsonSchema)]
struct Sum {
    numbers: Vec<f64>,
    unit: String,
}

fn loader() -> Loader {
    let sum = |Sum { numbers, unit }: Sum| async move {
        Ok(format!("{} {unit}", numbers.iter().sum::<f64>()))
    };
    Loader::new().with_tools(Tools::new().with(function("sum", "Adds.", sum)).unwrap())
}

/// Runs a flow, and returns its answer, or the error.
async fn answer(text: &str, input: &str) -> String {
    let loaded = loader().load_text("flow.yaml", text).unwrap();
    let mut state = FlowState::new(input);
    match loaded.flow().run(&mut state).await {
        Ok(_) => loaded.answer(&state).unwrap().text,
        Err(error) => error.to_string(),
    }
}

const TICKET: &str = include_str!("../files/good/ticket.yaml");

#[tokio::test]
async fn a_value_that_does_not_fit_its_schema_is_asked_for_again() {
    let with_answer = format!("answer: 'Urgency {{reader.urgency}}'\n{TICKET}");
    assert_eq!(answer(&with_answer, "It crashes.").await, "Urgency 2");
    let state = run_flow(&loader(), TICKET, "It crashes.").await;
    let tries = &state.visits().next().unwrap().tries;
    let complaints: Vec<_> = tries.iter().map(|tried| &tried.complaint).collect();
    insta::assert_snapshot!(format!("{complaints:?}"), @r#"[Some("line 1, `/urgency`: found the text \"high\"; expected an integer of at most 5"), Some("line 1, `/urgency`: found the number 9; expected an integer of at most 5"), None]"#);
    assert_eq!(state.last().text, r#"{"urgency":2}"#);

    let never = TICKET.replace("asks_again: 2", "asks_again: 0");
    insta::assert_snapshot!(answer(&never, "It crashes.").await, @r#"flow `flow`, node `reader`: exec failed: no reply of the model could be read: line 1, `/urgency`: found the text "high"; expected an integer of at most 5"#);
}

/// As of a type in Rust that refuses unknown keys.
#[tokio::test]
async fn a_key_that_a_schema_refuses_is_left_out_and_reported() {
    let loaded = loader().load(file("output.yaml")).unwrap();
    let (sink, mut events) = cogwork_flow::watch::events(100);
    let mut state = FlowState::new("?");
    let mut run = loaded.flow().begin().with_events(sink);
    run.finish(&mut state).await.unwrap();
    drop(run);
    // Objects in it may have any keys.
    assert_eq!(state.last().text, r#"{"l":[{"j":1}],"o":{"k":"v"}}"#);

    let mut notes = Vec::new();
    while let Some(event) = events.next().await {
        if let EventKind::Noted { text, .. } = &event.kind {
            notes.push(text.clone());
        }
    }
    let corrected = "corrected the answer: line 1: ignored the unknown key `extra`";
    assert!(notes.iter().any(|note| note == corrected), "{notes:?}");
}

#[tokio::test]
async fn a_map_runs_a_flow_for_each_item_in_order() {
    let rules = "{provider: rules, rules: [{when: b, reply: B}], else: A}";
    let node = format!("{{id: a, type: agent, config: {rules}}}");
    let flow = format!("nodes: [{{id: all, type: map, config: {{nodes: [{node}]}}}}]");
    let state = run_flow(&loader(), &flow, r#"["a", "b"]"#).await;

    assert_eq!(state.last().text, r#"["A","B"]"#);
    let map = state.visits().next().unwrap();
    let items: Vec<_> = map.inside.iter().map(|visit| visit.node.as_str()).collect();
    assert_eq!(
        (items, map.spent.calls, state.calls()),
        (vec!["1", "2"], 2, 2)
    );
}

const SQUARES: &str = include_str!("../files/good/squares.yaml");

#[tokio::test]
async fn the_items_of_a_map_are_a_list_in_json_or_one_that_a_model_wrote() {
    for (items, answers) in [
        (r#"["a", {"b": 1}, 2]"#, r#"["<a>","<{\"b\":1}>","<2>"]"#),
        ("Here they are:\n- one\n- two", r#"["<one>","<two>"]"#),
        (
            "1. **one**: a\n2. two\n\nDo you need more?",
            r#"["<**one**: a>","<two>"]"#,
        ),
        (
            "So:\n\n- **one**: a\n- Name: two\n",
            r#"["<**one**: a>","<Name: two>"]"#,
        ),
        ("[]", "[]"),
    ] {
        assert_eq!(answer(SQUARES, items).await, answers);
    }

    let many = serde_json::to_string(&vec![0; 1_001]).unwrap();
    insta::assert_snapshot!(answer(SQUARES, "one, two").await, @"flow `flow/squares/run`, node `item`: prep failed: `items` is `one, two`; expected a list in JSON, or lines that begin with `-` or a number");
    insta::assert_snapshot!(answer(SQUARES, &many).await, @"flow `flow/squares/run`, node `item`: prep failed: `items` has 1001 items; expected at most 1000");
}

#[tokio::test]
async fn branches_run_side_by_side_on_the_same_input() {
    assert_eq!(
        answer(&text("branches.yaml"), "x").await,
        r#"{"a":"x!","b":[1]}"#
    );
}

#[tokio::test]
async fn steps_without_a_model_fill_texts_choose_actions_and_call_tools() {
    let text = include_str!("../files/sums.yaml");
    assert_eq!(answer(text, "km").await, "3.5 km");
    insta::assert_snapshot!(answer(text, "miles").await, @"flow `flow`, node `kind`: post failed: `3.5 miles` names no action; expected `3.5 km` or `other`");

    let text = "nodes: [{id: add, type: tool, config: {tool: sum, arguments: {numbers: '{input}', unit: m}}}]";
    assert_eq!(answer(text, "[1, 2]").await, "3 m");
    insta::assert_snapshot!(answer(text, "x").await, @r#"flow `flow`, node `add`: exec failed: bad input for the tool `sum`: invalid type: string "x", expected a sequence"#);
}

#[tokio::test]
async fn a_call_of_a_tool_can_wait_for_approval() {
    let text = "nodes: [{id: add, type: tool, config: {tool: sum, approve: true, arguments: {numbers: [1], unit: m}}}]";
    let loaded = loader().load_text("flow.yaml", text).unwrap();
    let mut state = FlowState::new("");
    let mut run = loaded.flow().begin().with_journal(MemoryJournal::new("7"));
    let paused = run.finish(&mut state).await.unwrap_err().into_paused();
    let paused = paused.unwrap();
    insta::assert_snapshot!(paused.why, @r#"the flow wants to call the tool `sum` with {"numbers":[1],"unit":"m"}"#);

    run.deliver(&paused.event, &true).await.unwrap();
    run.finish(&mut state).await.unwrap();
    assert_eq!(state.last().text, "1 m");
}

#[derive(Deserialize, JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only whether a file is accepted is tested")]
enum Source {
    File { path: String },
    Page { url: String },
    Percent(u8),
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[expect(dead_code, reason = "only whether a file is accepted is tested")]
struct Copy {
    source: Source,
}

#[test]
fn a_setting_may_be_any_of_several_alternatives_of_the_same_kind() {
    let copy = |_: Copy, _: &mut Making<'_, '_>| Some(Made::node(from_fn(|_: &mut FlowState| ())));
    let loader = Loader::new().with_node_type("copy", "Copies.", copy);
    let loader = loader.unwrap();
    let flow =
        |source: &str| format!("nodes: [{{id: a, type: copy, config: {{source: {source}}}}}]");
    for source in ["{path: a.txt}", "{url: 'https://example.com'}", "50"] {
        assert_eq!(problems(&loader, &flow(source)), "none", "{source}");
    }

    // The problems are those of the first alternative.
    insta::assert_snapshot!(problems(&loader, &flow("{uri: x}")), @"flow.yaml:1:46: nodes[0].config.source: the key `path` is missing; expected a text");
}
