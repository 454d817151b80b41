//! Tools that the model calls in its replies, on a server that doesn't support tools.

use cogwork_cot::{ChainOfThought, Prompts};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, ReplyFormat, ScriptedClient};
use cogwork_tools::Tools;
use cogwork_typed::ask::Format;
use insta::assert_snapshot;
use proptest::prelude::*;
use serde_json::Value;

use crate::node::support::{FIRST, LAST, SECOND, conversation, read, run, run_alone, solve};
use crate::node::tools::{shown, tools};

const CALL: &str = "\
```yaml
current_thinking: |
  I need the product.
tool_calls:
- name: multiply
  input: {factors: [12, 12]}
```";

const JSON_CALL: &str = r#"{
  "current_thinking": "I need the product.",
  "tool_calls": [{"name": "multiply", "input": {"factors": [12, 12]}}]
}"#;

fn multiply() -> Tools {
    tools().only(["multiply"]).unwrap()
}

fn node(client: &ScriptedClient) -> ChainOfThought {
    ChainOfThought::new(client.clone()).with_tools(multiply())
}

/// The calls of a reply, and of what the model was told if it was asked again.
async fn calls_of(reply: &str) -> String {
    let client = ScriptedClient::new([reply, LAST]);
    let (reasoning, ended) = run(node(&client)).await;
    if let Err(error) = ended {
        return error.to_string();
    }

    let trace = &reasoning.thoughts()[0].trace;
    let complaints = trace.tries.iter().filter_map(|one| one.complaint.clone());
    shown(&trace.tool_calls) + &complaints.collect::<String>()
}

fn schema(request: &ChatRequest) -> Value {
    match request.format() {
        Some(ReplyFormat::Schema { schema, .. }) => serde_json::from_str(schema).unwrap(),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn the_model_writes_its_calls_and_reads_the_results() {
    let client = ScriptedClient::new([FIRST, CALL, SECOND, LAST]);
    let reasoning = solve(node(&client)).await;

    let trace = &reasoning.thoughts()[1].trace;
    assert_eq!(trace.tries[0].reply, CALL);
    assert_eq!((trace.spent.calls, trace.spent.tool_calls), (2, 1));
    assert_snapshot!(shown(&trace.tool_calls), @r#"multiply {"factors":[12,12]} → 144"#);

    let requests = client.requests();
    let results = requests[2].messages().last().unwrap().text();
    assert!(results.contains("<result>\n144\n</result>"), "{results}");
    assert!(requests.iter().all(|request| request.tools().is_empty()));
}

#[tokio::test]
async fn the_prompts_describe_the_tools_in_both_languages_and_forms() {
    let [english, chinese] = [Prompts::english(), Prompts::chinese()];
    for (name, prompts, format) in [
        ("english_yaml", &english, Format::Text),
        ("english_json", &english, Format::Json),
        ("chinese_yaml", &chinese, Format::Text),
        ("chinese_json", &chinese, Format::Json),
    ] {
        let asked = async |node: ChainOfThought, client: &ScriptedClient| {
            solve(node.with_prompts(prompts.clone()).with_format(format)).await;
            client.requests()
        };
        let system = |requests: &[ChatRequest]| {
            let first = requests[0].messages().iter().next().unwrap();
            first.text().trim_end().to_owned()
        };
        let client = ScriptedClient::new([CALL, CALL, LAST]);
        let with_tools = asked(node(&client).with_tool_rounds(2), &client).await;
        let client = ScriptedClient::new([LAST]);
        let without = asked(ChainOfThought::new(client.clone()), &client).await;

        let told = system(&with_tools);
        let added = told.strip_prefix(&system(&without)).unwrap();
        let results = conversation(&with_tools[2], with_tools[0].messages().len());
        let shown = format!("{}\n\n{results}", added.trim());
        assert_snapshot!(format!("tools_in_replies_{name}"), shown);
    }
}

#[tokio::test]
async fn calls_are_read_from_any_form_of_reply() {
    let made = r#"multiply {"factors":[12,12]} → 144"#;
    let bare = CALL.trim_start_matches("```yaml\n");
    let bare = bare.trim_end_matches("\n```");
    let invented = format!("It returned 145.\n{}\n", CALL.replace("12, 12", "145, 1"));
    let replies = [
        CALL.to_owned(),
        JSON_CALL.to_owned(),
        bare.to_owned(),
        format!("Let me multiply.\n\n{CALL}\n\nThen I go on."),
        format!("I will call a tool:\n{JSON_CALL}\nand wait."),
        format!("```json\n{JSON_CALL}\n```"),
        format!("<think>\nWhich of the tool_calls?\n</think>\n{CALL}"),
        CALL.replace('\n', "\r\n"),
        JSON_CALL.replace(['\n', ' '], ""),
        CALL.replace("input:", "arguments:"),
        CALL.replace("- name", "  name"),
        JSON_CALL.replace(r#"{"factors": [12, 12]}"#, r#""{\"factors\":[12,12]}""#),
        format!("{CALL}\n\nIt returned 145.\n\n{LAST}"),
        // The first call counts, also of more blocks than would be tried as an answer.
        format!("{CALL}\n\n{}", invented.repeat(9)),
        format!("{}\n\n{CALL}", "```text\n12 * 12\n```\n".repeat(9)),
        CALL.replace(
            "```yaml\n",
            "```yaml\nplanning: []\nnext_thought_needed: true\n",
        ),
    ];

    for reply in replies {
        assert_eq!(calls_of(&reply).await, made, "{reply}");
    }
}

#[tokio::test]
async fn calls_that_cannot_be_read_are_asked_for_again() {
    let many = format!(" [{}]", "{name: multiply}, ".repeat(65));
    let deep = format!(" [{{name: multiply, input: {}}}]", "[".repeat(200));
    let mut seen = Vec::new();
    for calls in [
        " multiply",
        " [multiply]",
        " [{input: {}}]",
        "\n- name: multiply\n  input: {factors: [12,",
        "\n- name: &x multiply\n  input: *x",
        &many,
        &deep,
    ] {
        let right = "\n- name: multiply\n  input: {factors: [12, 12]}";
        seen.push(calls_of(&CALL.replace(right, calls)).await);
    }
    assert_snapshot!(seen.join("\n"), @r#"
    line 4: `/tool_calls`: found the text "multiply"; expected a list of objects with name, input
    multiply {} ✗ bad input for the tool `multiply`: missing field `factors`
    line 4: `/tool_calls/0`: `name` is missing; expected a text
    line 2: the reply ends inside the value; expected all of it
    line 5: YAML has another meaning; expected valid YAML
    the reply has 65 tool calls; expected at most 64
    line 4: the value is nested too deeply; expected valid YAML
    "#);
}

#[tokio::test]
async fn a_thought_about_calls_is_no_call() {
    let thought = LAST.replace("144 + 6 = 150", "No tool_calls: here, 144 + 6 = 150");
    for reply in [
        thought.clone(),
        thought.replace("planning:", "tool_calls: []\nplanning:"),
        thought.replace("planning:", "tool_calls: null\nplanning:"),
        thought.replace("planning:", "tool_calls:\nplanning:"),
        thought.replace(
            "next_thought_needed: false",
            "next_thought_needed: false\ntool_calls: []",
        ),
    ] {
        assert_eq!(calls_of(&reply).await, "", "{reply}");
    }
}

#[tokio::test]
async fn the_schema_of_a_reply_allows_calls_while_they_are_allowed() {
    let schemas = Capabilities::none().with(Capability::JsonSchema);
    for (format, name) in [
        (Format::Schema, "schema"),
        (Format::FlatSchema, "flat_schema"),
    ] {
        let client = ScriptedClient::new([JSON_CALL, LAST]).with_capabilities(schemas);
        solve(node(&client).with_format(format).with_tool_rounds(1)).await;

        let requests = client.requests();
        let first = format!("{:#}", schema(&requests[0]));
        assert_snapshot!(format!("{name}_with_calls"), first);

        // A model writes the properties in this order.
        let Some(ReplyFormat::Schema { schema: text, .. }) = requests[0].format() else {
            panic!("a schema")
        };
        let place = |property: &str| text.find(&format!("{property:?}:{{")).unwrap();
        assert!(place("current_thinking") < place("tool_calls"));
        assert!(place("name") < place("input"));

        assert!(!schema(&requests[1]).to_string().contains("tool_calls"));
    }
}

#[tokio::test]
async fn a_reply_in_the_flat_schema_has_an_empty_list_of_calls() {
    let json = serde_json::to_string(&read(LAST)).unwrap();
    let needed = r#""next_thought_needed":false"#;
    for reply in [
        json.replace(r#""planning""#, r#""tool_calls":[],"planning""#),
        json.replace(needed, &format!(r#"{needed},"tool_calls": [ ]"#)),
    ] {
        let client = ScriptedClient::new([reply.clone()]);
        let reasoning = solve(node(&client).with_format(Format::FlatSchema)).await;

        assert_eq!(reasoning.answer(), Some("150"), "{reply}");
        assert_eq!(reasoning.thoughts()[0].trace.repairs, []);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_mixture_of_calls_and_plans_ends_in_a_thought_or_an_error(
        pieces in prop::collection::vec(0_usize..PIECES.len(), 0..12),
    ) {
        let reply: String = pieces.iter().map(|piece| PIECES[*piece]).collect();
        let client = ScriptedClient::new([reply.as_str(), LAST]);
        let (reasoning, ended) = run_alone(node(&client));
        match ended {
            Ok(()) => prop_assert_eq!(reasoning.answer(), Some("150")),
            Err(error) => prop_assert!(error.downcast_ref::<cogwork_cot::CotError>().is_some()),
        }
    }
}

const PIECES: [&str; 14] = [
    "tool_calls: []",
    "\"tool_calls\": [ ], ",
    ", \"tool_calls\" :null",
    "tool_calls:\n- name: multiply\n  input: {factors: [1]}\n",
    "{\"tool_calls\": [{\"name\": \"multiply\"}]}",
    "```yaml\n",
    "```\n",
    "\n",
    "{",
    "}",
    "é\u{2028}",
    "<think>",
    "</think>",
    LAST,
];
