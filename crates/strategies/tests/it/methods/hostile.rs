//! Hostile and unusual models and tables: their cost is limited, and their texts aren't changed.

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatResponse, FinishReason, ScriptedClient, ToolCall};
use cogwork_strategies::methods::React;
use cogwork_strategies::{Answer, Call, Called, Solve, Solver, Solving, Stop, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::ask::Limits;
use serde::Deserialize;
use serde_json::Value;

use super::support::{complaints, scripted, told};
use crate::support::strategy;

/// A tool that returns its input.
fn echo() -> Tools {
    let echo = |input: Value| async move { Ok(input.to_string()) };
    Tools::new()
        .with(function("echo", "Echoes.", echo))
        .unwrap()
}

/// Runs a strategy with these tools.
async fn run(name: StrategyName, client: ScriptedClient, tools: Tools) -> Solving {
    let solver = Solver::new(client, name).with_tools(tools);
    solver.solve("p").await.unwrap()
}

/// Runs ReAct with a model whose first reply makes these calls.
async fn calling(calls: impl IntoIterator<Item = ToolCall>, tools: Tools) -> Solving {
    run(StrategyName::React, native(calls), tools).await
}

fn native(calls: impl IntoIterator<Item = ToolCall>) -> ScriptedClient {
    let client = ScriptedClient::new([ChatResponse::new("").with_tool_calls(calls)]);
    let tools = Capabilities::none().with(Capability::Tools);
    client.then("done").with_capabilities(tools)
}

/// Returns the inputs and the outputs of the tools.
fn tool_calls(trace: &Solving) -> String {
    let of = |call: &Call| match call {
        Call::Tool(Called {
            id, input, output, ..
        }) => Some(format!("{id}: {input} -> {output}")),
        _ => None,
    };
    let calls = trace.calls().iter().filter_map(of);
    calls.collect::<Vec<_>>().join("\n")
}

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn ids_and_arguments_of_native_calls_are_texts_like_any_other() {
    let call =
        |id: &str, text: &str| ToolCall::new(id, "echo", format!("{{\"text\": \"{text}\"}}"));
    let calls = [
        call("1", "one"),
        call("2", "take 1 apple"),
        call("2", "1 and 2"),
    ];
    let solved = calling(calls, echo()).await;
    insta::assert_snapshot!(tool_calls(&solved), @r#"
    1: {"text":"one"} -> {"text":"one"}
    2: {"text":"take 1 apple"} -> {"text":"take 1 apple"}
    2: {"text":"1 and 2"} -> {"text":"1 and 2"}
    "#);

    // Arguments that are cut off do not reach a tool, and empty ones are none.
    let weather = |City { city }| async move { Ok(format!("rain in {city}")) };
    let now = |Nothing {}| async { Ok("noon".to_owned()) };
    let tools = Tools::new().with(function("weather", "", weather)).unwrap();
    let tools = tools.with(function("now", "", now)).unwrap();
    let weather = ToolCall::new("a", "weather", "{\"city\": \"Ber");
    let solved = calling([weather, ToolCall::new("b", "now", "")], tools).await;
    insta::assert_snapshot!(tool_calls(&solved), @r#"
    a: "{\"city\": \"Ber" -> bad input for the tool `weather`: the arguments are not a JSON object: EOF while parsing a string at line 1 column 13
    b: "" -> noon
    "#);
}

/// Otherwise, a model could do in one reply what it is refused elsewhere.
#[tokio::test]
async fn too_many_calls_and_those_of_a_truncated_reply_are_not_made() {
    let calls = || (0..17).map(|id| ToolCall::new(id.to_string(), "echo", "{}"));
    let solved = calling(calls(), echo()).await;
    assert_eq!(solved.spent().tool_calls, 16);
    assert!(
        tool_calls(&solved).ends_with(
            "\n15: {} -> {}\n16: {} -> too many calls in one reply; expected at most 16"
        )
    );

    let cut = ChatResponse::new("").with_tool_calls(calls());
    let cut = ScriptedClient::new([cut.with_finish_reason(FinishReason::Length)]).then("done");
    let cut = cut.with_capabilities(Capabilities::none().with(Capability::Tools));
    let solved = run(StrategyName::React, cut, echo()).await;
    assert_eq!(solved.spent().tool_calls, 0);
    assert_eq!(
        complaints(&solved),
        "the reply was cut off at the limit of tokens, so be shorter"
    );
}

#[tokio::test]
async fn thousands_of_calls_in_one_reply_are_not_made() {
    let calls = (0..5_000).map(|id| ToolCall::new(id.to_string(), "echo", "{}"));
    let solved = calling(calls, echo()).await;
    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("done"), 0)
    );
    let complaint = complaints(&solved);
    assert_eq!(
        complaint,
        "the reply has 5000 tool calls; expected at most 64"
    );

    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(300_000));
    let solved = calling([ToolCall::new("a", "echo", long)], echo()).await;
    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("done"), 0)
    );
    assert!(solved.spent().tokens() > 75_000, "{}", solved.spent());
}

#[tokio::test]
async fn a_state_with_deep_arguments_can_be_read_again() {
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(120), "]".repeat(120));
    let solved = calling([ToolCall::new("a", "echo", deep)], echo()).await;

    let saved = serde_json::to_string(&solved).unwrap();
    serde_json::from_str::<Solving>(&saved).unwrap();
    // The tool still got the input.
    assert!(tool_calls(&solved).ends_with(&format!("{}}}", "]".repeat(120))));
}

#[derive(Deserialize, JsonSchema)]
struct Price {
    price: f64,
}

#[tokio::test]
async fn a_number_that_was_kept_as_it_was_written_is_one_where_a_tool_wants_one() {
    let tax = |Price { price }| async move { Ok(format!("{:.2}", price * 1.25)) };
    let tools = Tools::new().with(function("tax", "", tax)).unwrap();
    let replies = [
        "action: tax\naction_input: 1.20",
        "action: finish\naction_input: 1.50",
    ];
    let solved = run(StrategyName::React, ScriptedClient::new(replies), tools).await;
    assert_eq!(tool_calls(&solved), r#"call: {"price":1.2} -> 1.50"#);
}

#[tokio::test]
async fn a_tool_with_the_name_of_the_end_is_refused_where_it_could_not_be_called() {
    let finish = |_: Value| async { Ok(String::new()) };
    let tools = Tools::new().with(function("finish", "", finish)).unwrap();

    let solver = Solver::new(ScriptedClient::default(), React::default());
    let error = solver
        .with_tools(tools.clone())
        .solve("p")
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"stage `problem_reception`: a tool is called `finish`, which is the action that ends the cycles; expected another name");

    let solved = calling([ToolCall::new("a", "finish", "{}")], tools).await;
    assert_eq!(solved.spent().tool_calls, 1);
}

#[tokio::test]
async fn outputs_of_tools_do_not_grow_without_bound() {
    let much = |_: Value| async { Ok("y".repeat(16 * 1024)) };
    let tools = Tools::new().with(function("much", "", much)).unwrap();
    let names = vec!["\"#E1\""; 5_000].join(",");
    let plan = format!("Plan: a\n#E1 = much[]\nPlan: b\n#E2 = much[[{names}]]");
    let client = ScriptedClient::new([plan.as_str(), "answer: x"]);
    let solved = run(StrategyName::Rewoo, client, tools).await;
    let longest = tool_calls(&solved).len();
    assert!((256 * 1024..350_000).contains(&longest), "{longest}");

    let wordy = |_: Value| async { Err::<String, _>(ToolError::failed("x".repeat(1_000_000))) };
    let tools = Tools::new().with(function("wordy", "", wordy)).unwrap();
    let client = ScriptedClient::new(["action: wordy", "action: finish\naction_input: x"]);
    let solved = run(StrategyName::React, client, tools).await;
    assert!(tool_calls(&solved).len() < 17_000);
}

#[tokio::test]
async fn a_name_that_a_model_gives_cannot_steer_a_terminal() {
    let replies = [
        "thought: w\nthoughts_needed: 4",
        "one",
        "thought: j\nnext: branch_creation",
        "thought: b\nbranch_from_thought: 3\nbranch_id: \u{1b}[31m\u{202e}x",
        "two",
    ];
    let (solver, _) = scripted(StrategyName::Linear, replies);
    let error = solver.solve("p").await.unwrap_err();
    let trace = error.so_far().unwrap().to_string();
    assert!(trace.contains(r"[\u{1b}[31m\u{202e}x]"), "{trace}");
    assert!(!trace.contains(['\u{1b}', '\u{202e}']), "{trace}");
}

#[tokio::test]
async fn names_in_a_table_may_be_those_that_the_form_has_itself() {
    let stages = "begin: {description: d, prompt: p, next: [stopped]}
        stopped: {description: d, prompt: p, next: [__, --], parameters: {answer: {type: string, description: d}, thought: {type: string, description: d}}}
        __: {description: d, prompt: p, next: [--]}
        --: {description: d, prompt: p, final: true, parameters: {a_b: {type: string, description: d}, ab: {type: string, description: d}, -: {type: string, description: d}}}";
    let replies = [
        "answer: left\nthought: so\nnext: __",
        "on",
        "ab: 1\na_b: 2\n-: 3",
    ];
    let (solver, _) = scripted(strategy("mine", stages), replies);
    insta::assert_snapshot!(told(&solver.solve("the problem").await.unwrap()), @r#"
      1 begin: the problem
      2 stopped: so · answer = left
      3 __: on
      4 --:  · - = 3 · a_b = 2 · ab = 1
    answer: {"-":"3","a_b":"2","ab":"1"}
    end: answered
    spent: 3 calls, about 281 tokens
    "#);
}

#[tokio::test]
async fn a_start_that_needs_something_or_leaves_a_choice_is_asked_for() {
    let stages = "claim: {description: d, prompt: State the claim., next: [pro, contra], parameters: {side: {type: string, description: d}}}
        pro: {description: d, prompt: p, next: [end]}
        contra: {description: d, prompt: p, next: [end]}
        end: {description: d, prompt: p, final: true, parameters: {result: {type: string, description: d}}}";
    let replies = [
        "thought: It is so.\nside: mine\nnext: contra",
        "It is not.",
        "result: 51",
    ];
    let (solver, _) = scripted(strategy("mine", stages), replies);

    // The answer is only in a parameter of the final stage.
    insta::assert_snapshot!(told(&solver.solve("the problem").await.unwrap()), @"
      1 claim: It is so. · side = mine
      2 contra: It is not.
      3 end:  · result = 51
    answer: 51
    end: answered
    spent: 3 calls, about 304 tokens
    ");
}

#[tokio::test]
async fn a_thought_that_is_not_there_is_asked_for_again() {
    let stages = "begin: {description: d, prompt: p, next: [end]}
        end: {description: d, prompt: p, final: true, parameters: {revises_thought: {type: thought, description: d}}}";
    let replies = ["x\nrevises_thought: 99", "x\nrevises_thought: 1"];
    let (solver, _) = scripted(strategy("mine", stages), replies);
    let solved = solver.solve("p").await.unwrap();
    assert_eq!(solved.answer(), Some("x"));
    insta::assert_snapshot!(complaints(&solved), @"the stage `end` of `mine`: `revises_thought`: there is no thought 99; expected a number from 1 to 1");
}

#[tokio::test]
async fn an_error_shows_the_reply_on_demand() {
    let replies = [
        "steps:\n- one",
        "results: []\nanswer: \u{1b}[31m",
        "b",
        "c\u{1b}",
    ];
    let (solver, _) = scripted(StrategyName::ChainOfThought, replies);
    let error = solver.solve("p").await.unwrap_err();
    insta::assert_snapshot!(format!("{error}\n{error:#}"), @r#"
    stage `sequential_reasoning`: no reply could be used: line 1: `results` is missing; expected a list of texts; `answer` is missing; expected a text
    stage `sequential_reasoning`: no reply could be used: line 1: `results` is missing; expected a list of texts; `answer` is missing; expected a text
    the reply:
    c�
    "#);
}

/// A method that makes no calls still ends.
#[tokio::test]
async fn an_endless_method_ends_with_the_limit_of_thoughts() {
    fn endless(cx: &mut Solve) -> Result<Answer, Stop> {
        loop {
            cx.think("on", "and on")?;
        }
    }

    let stages = "on: {description: d, prompt: p, next: [on, end]}
        end: {description: d, prompt: p, final: true}";
    let limits = Limits::default().with_thoughts(10_050).with_conclude(false);
    let solver = Solver::new(
        ScriptedClient::default(),
        (strategy("mine", stages), endless),
    );
    let solved = solver.with_limits(limits).solve("p").await.unwrap();
    assert_eq!(
        solved.end().unwrap().to_string(),
        "the budget of 10050 thoughts is spent"
    );
    assert_eq!(solved.session().thoughts().len(), 10_050);
}
