//! Hostile and unusual models and tables: their cost is limited, and their texts aren't changed.

use std::time::Duration;

use cogwork_llm::{
    Capabilities, Capability, ChatResponse, ScriptedClient, ScriptedReply, ToolCall,
};
use cogwork_strategies::{
    Answer, Call, Called, Limits, Linear, Parameter, ParameterType, React, Scratchpad, Solve,
    SolveError, Solved, Solver, Solving, Stop, Strategies, Strategy, StrategyName,
};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use serde::Deserialize;
use serde_json::Value;

use crate::methods::support::{conversation, told};

/// A tool that returns its input.
fn echo() -> Tools {
    Tools::new()
        .with(function("echo", "Echoes.", |input: Value| async move {
            Ok(input.to_string())
        }))
        .unwrap()
}

/// Returns a client whose first reply makes these calls.
fn calling(calls: impl IntoIterator<Item = ToolCall>) -> ScriptedClient {
    ScriptedClient::new([ChatResponse::new("").with_tool_calls(calls)])
        .then("done")
        .with_capabilities(Capabilities::none().with(Capability::Tools))
}

/// Returns the inputs and the outputs of the tools.
fn tool_calls(solved: &Solved) -> Vec<String> {
    let of = |call: &Call| match call {
        Call::Tool(Called {
            id, input, output, ..
        }) => Some(format!("{id}: {input} -> {output}")),
        _ => None,
    };
    solved.trace().calls().iter().filter_map(of).collect()
}

#[tokio::test]
async fn ids_of_native_calls_are_words_like_any_other() {
    let call =
        |id: &str, text: &str| ToolCall::new(id, "echo", format!("{{\"text\": \"{text}\"}}"));
    let client = calling([
        call("1", "one"),
        call("2", "take 1 apple"),
        call("2", "1 and 2"),
    ]);

    let solved = Solver::new(client, React::default())
        .with_tools(echo())
        .solve("p")
        .await
        .unwrap();

    insta::assert_snapshot!(tool_calls(&solved).join("\n"), @r#"
    1: {"text":"one"} -> {"text":"one"}
    2: {"text":"take 1 apple"} -> {"text":"take 1 apple"}
    2: {"text":"1 and 2"} -> {"text":"1 and 2"}
    "#);
}

#[derive(Deserialize, JsonSchema)]
struct City {
    city: String,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
struct Price {
    price: f64,
}

#[tokio::test]
async fn arguments_that_are_cut_off_do_not_reach_a_tool_and_empty_ones_are_none() {
    let weather = |City { city }| async move { Ok(format!("rain in {city}")) };
    let now = |Nothing {}| async { Ok("noon".to_owned()) };
    let tools = Tools::new().with(function("weather", "", weather)).unwrap();
    let tools = tools.with(function("now", "", now)).unwrap();
    let client = calling([
        ToolCall::new("a", "weather", "{\"city\": \"Ber"),
        ToolCall::new("b", "now", ""),
    ]);
    let solved = Solver::new(client, React::default())
        .with_tools(tools)
        .solve("p")
        .await
        .unwrap();

    insta::assert_snapshot!(tool_calls(&solved).join("\n"), @r#"
    a: "{\"city\": \"Ber" -> bad input for the tool `weather`: the arguments are not JSON: EOF while parsing a string at line 1 column 13; expected an object
    b: "" -> noon
    "#);
}

#[tokio::test]
async fn thousands_of_calls_in_one_reply_are_not_made() {
    let client = calling((0..5_000).map(|id| ToolCall::new(id.to_string(), "echo", "{}")));
    let solved = Solver::new(client.clone(), React::default())
        .with_tools(echo())
        .solve("p")
        .await
        .unwrap();

    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("done"), 0)
    );
    let asked = conversation(client.requests().last().unwrap());
    assert!(
        asked.contains("the reply has 5000 tool calls; expected at most 64"),
        "{asked}"
    );

    let client = calling([ToolCall::new(
        "a",
        "echo",
        format!("{{\"x\": \"{}\"}}", "x".repeat(300_000)),
    )]);

    let solved = Solver::new(client, React::default())
        .with_tools(echo())
        .solve("p")
        .await
        .unwrap();

    assert_eq!(
        (solved.answer(), solved.spent().tool_calls),
        (Some("done"), 0)
    );
    assert!(solved.spent().tokens() > 75_000, "{}", solved.spent());
}

#[tokio::test]
async fn a_state_with_deep_arguments_can_be_read_again() {
    let deep = format!("{{\"x\": {}{}}}", "[".repeat(120), "]".repeat(120));
    let solver = Solver::new(
        calling([ToolCall::new("a", "echo", deep)]),
        React::default(),
    )
    .with_tools(echo());
    let mut solving = solver.begin("p");
    solver
        .clone()
        .into_flow()
        .unwrap()
        .run(&mut solving)
        .await
        .unwrap();

    let saved = serde_json::to_string(&solving).unwrap();
    serde_json::from_str::<Solving>(&saved).unwrap();

    // The tool still got the input.
    assert!(tool_calls(&Solved::from(solving))[0].ends_with(&format!("{}}}", "]".repeat(120))));
}

#[tokio::test]
async fn finishing_without_an_answer_is_asked_for_again() {
    let client = ScriptedClient::new([
        "action: finish",
        "action: finish[]",
        "action: finish\naction_input: 1.10",
    ]);

    let solved = Solver::new(client.clone(), React::default())
        .with_tools(echo())
        .solve("p")
        .await
        .unwrap();

    // It may be a version or a price rather than the number 1.1.
    assert_eq!(solved.answer(), Some("1.10"));
    let asked = conversation(client.requests().last().unwrap());
    assert!(
        asked.contains(
            "`action_input` is missing, expected the answer, since the action is `finish`"
        ),
        "{asked}"
    );
}

#[tokio::test]
async fn a_number_that_was_kept_as_it_was_written_is_one_where_a_tool_wants_one() {
    let tax = |Price { price }| async move { Ok(format!("{:.2}", price * 1.25)) };
    let tools = Tools::new().with(function("tax", "", tax)).unwrap();
    let client = ScriptedClient::new([
        "action: tax\naction_input: 1.20",
        "action: finish\naction_input: 1.50",
    ]);
    let solved = Solver::new(client, React::default())
        .with_tools(tools)
        .solve("p")
        .await
        .unwrap();

    assert_eq!(tool_calls(&solved), [r#"call: {"price":1.2} -> 1.50"#]);
}

#[tokio::test]
async fn a_tool_with_the_name_of_the_end_is_refused_where_it_could_not_be_called() {
    let tools = || {
        Tools::new()
            .with(function("finish", "", |_: Value| async {
                Ok(String::new())
            }))
            .unwrap()
    };

    let error = Solver::new(ScriptedClient::default(), React::default())
        .with_tools(tools())
        .solve("p")
        .await;
    insta::assert_snapshot!(
        error.unwrap_err(),
        @"stage `problem_reception`: a tool is called `finish`, which is the action that ends the cycles; expected another name"
    );
    let client = calling([ToolCall::new("a", "finish", "{}")]);
    let solved = Solver::new(client, React::default())
        .with_tools(tools())
        .solve("p")
        .await
        .unwrap();

    assert_eq!(solved.spent().tool_calls, 1);
}

#[tokio::test]
async fn evidence_that_is_named_thousands_of_times_does_not_grow_without_bound() {
    let much = |_: Value| async { Ok("y".repeat(16 * 1024)) };
    let tools = Tools::new().with(function("much", "", much)).unwrap();
    let names = vec!["\"#E1\""; 5_000].join(",");
    let plan = format!("Plan: a\n#E1 = much[]\nPlan: b\n#E2 = much[[{names}]]");
    let client = ScriptedClient::new([plan.as_str(), "answer: x"]);
    let solved = Solver::new(client, StrategyName::Rewoo)
        .with_tools(tools)
        .solve("p")
        .await
        .unwrap();

    let longest = tool_calls(&solved).iter().map(String::len).max();
    assert!(
        longest.is_some_and(|longest| (256 * 1024..330_000).contains(&longest)),
        "{longest:?}"
    );
}

#[tokio::test]
async fn what_a_failing_tool_says_is_cut() {
    let wordy = |_: Value| async { Err::<String, _>(ToolError::failed("x".repeat(1_000_000))) };
    let tools = Tools::new().with(function("wordy", "", wordy)).unwrap();
    let client = ScriptedClient::new(["action: wordy", "action: finish\naction_input: x"]);
    let solved = Solver::new(client, React::default())
        .with_tools(tools)
        .solve("p")
        .await
        .unwrap();

    assert!(tool_calls(&solved)[0].len() < 17_000);
}

#[tokio::test]
async fn texts_of_a_scratchpad_stay_the_texts_they_are() {
    let text = || ParameterType::Text {
        choices: Vec::new(),
    };
    let client = ScriptedClient::new([
        r#"state_variables: {"version": "1.10", "id": "12345678901234567890123", "own": "1.10"}"#,
        "state_variables: version = 1.20\ndone: yes",
    ]);
    let driver = Scratchpad {
        variables: vec![
            ("version".to_owned(), Parameter::new(text(), "")),
            ("id".to_owned(), Parameter::new(text(), "")),
        ],
        other_variables: Some(true),
        result: Some("version".to_owned()),
        ..Scratchpad::default()
    };
    let solved = Solver::new(client, driver).solve("p").await.unwrap();

    assert_eq!(solved.answer(), Some("1.20"));
    let state = solved.trace().session().thoughts()[3]
        .parameter("state_variables")
        .unwrap()
        .to_string();
    assert_eq!(
        state,
        r#"{"id":"12345678901234567890123","own":"1.10","version":"1.20"}"#
    );
}

#[tokio::test]
async fn more_variables_than_there_can_be_are_an_error_before_the_first_call() {
    let number = || ParameterType::Number {
        min: None,
        max: None,
    };
    let variables = (0..65).map(|name| (format!("v{name}"), Parameter::new(number(), "")));
    let driver = Scratchpad {
        variables: variables.collect(),
        ..Scratchpad::default()
    };
    let error = Solver::new(ScriptedClient::default(), driver)
        .solve("p")
        .await
        .unwrap_err();
    insta::assert_snapshot!(error, @"stage `problem_reception`: there are 65 variables; expected at most 64");
}

#[tokio::test]
async fn a_name_that_a_model_gives_cannot_steer_a_terminal() {
    let client = ScriptedClient::new([
        "thought: w\nthoughts_needed: 4",
        "one",
        "thought: j\nnext: branch_creation",
        "thought: b\nbranch_from_thought: 3\nbranch_id: \u{1b}[31m\u{202e}x",
        "two",
        "thought: j\nnext: hypothesis_generation",
        "hypothesis: h",
        "verification: v\nholds: yes",
        "thought: s\nanswer: 1",
    ]);

    let solved = Solver::new(client, Linear::default())
        .solve("p")
        .await
        .unwrap();
    let trace = solved.trace().to_string();
    assert!(trace.contains(r"[\u{1b}[31m\u{202e}x]"), "{trace}");
    assert!(!trace.contains(['\u{1b}', '\u{202e}']), "{trace}");
}

/// Returns the strategy with these lines as its stages.
fn table(stages: &str) -> Strategy {
    let lines: String = stages
        .lines()
        .map(|line| format!("    {}\n", line.trim()))
        .collect();
    let strategies =
        Strategies::from_yaml(&format!("mine:\n  description: d\n  stages:\n{lines}")).unwrap();
    strategies.get("mine").unwrap().clone()
}

async fn run(stages: &str, replies: &[&str]) -> Result<Solved, SolveError> {
    Solver::new(ScriptedClient::new(replies.iter().copied()), table(stages))
        .solve("the problem")
        .await
}

#[tokio::test]
async fn names_in_a_table_may_be_those_that_the_form_has_itself() {
    let solved = run(
        "begin: {description: d, prompt: p, next: [stopped]}
        stopped: {description: d, prompt: p, next: [__, --], parameters: {next: {type: text, description: d}, thought: {type: text, description: d}}}
        __: {description: d, prompt: p, next: [--]}
        --: {description: d, prompt: p, final: true, parameters: {a_b: {type: text, description: d}, ab: {type: text, description: d}, -: {type: text, description: d}}}",
        &["next: left\nthought: so\nnext_stage: __", "on", "ab: 1\na_b: 2\n-: 3"],
    );
    insta::assert_snapshot!(told(&solved.await.unwrap()), @"
      1 begin: the problem
      2 stopped: so · next = left
      3 __: on
      4 --:  · - = 3 · a_b = 2 · ab = 1
    answer: -: 3
    a_b: 2
    ab: 1
    end: answered
    spent: 3 calls, about 287 tokens
    ");
}

#[tokio::test]
async fn a_start_that_needs_something_or_leaves_a_choice_is_asked_for() {
    let solved = run(
        "claim: {description: d, prompt: State the claim., next: [pro, contra], parameters: {side: {type: text, description: d}}}
        pro: {description: d, prompt: p, next: [end]}
        contra: {description: d, prompt: p, next: [end]}
        end: {description: d, prompt: p, final: true, parameters: {result: {type: text, description: d}}}",
        &["thought: It is so.\nside: mine\nnext: contra", "It is not.", "result: 51"],
    );

    // The answer is only in a parameter of the final stage.
    insta::assert_snapshot!(told(&solved.await.unwrap()), @"
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
    let client = ScriptedClient::new(["x\nrevises_thought: 99", "x\nrevises_thought: 1"]);
    let solved = Solver::new(client.clone(), table(stages))
        .solve("p")
        .await
        .unwrap();
    assert_eq!(solved.answer(), Some("x"));

    let asked = conversation(client.requests().last().unwrap());
    assert!(
        asked.contains("`revises_thought` is 99, expected a number from 1 to 1."),
        "{asked}"
    );
}

#[tokio::test]
async fn an_error_shows_the_reply_on_demand() {
    let client = ScriptedClient::new([
        "steps:\n- one",
        "results: []\nanswer: \u{1b}[31m",
        "b",
        "c\u{1b}",
    ]);

    let error = Solver::new(client, StrategyName::ChainOfThought)
        .solve("p")
        .await
        .unwrap_err();
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

    let table = table(
        "on: {description: d, prompt: p, next: [on, end]}
        end: {description: d, prompt: p, final: true}",
    );
    let budget = Limits::default().with_thoughts(10_050).with_conclude(false);
    let solver = Solver::new(ScriptedClient::default(), (table, endless)).with_limits(budget);
    let solved = solver.solve("p").await.unwrap();
    assert_eq!(
        solved.end().to_string(),
        "the budget of 10050 thoughts is spent"
    );
    assert_eq!(solved.trace().session().thoughts().len(), 10_050);
}

#[tokio::test(start_paused = true)]
async fn a_time_without_a_limit_has_none() {
    let client = ScriptedClient::default()
        .then(ScriptedReply::from("x").after(Duration::from_secs(7 * 24 * 3600)));
    let stages = "begin: {description: d, prompt: p, next: [end]}
        end: {description: d, prompt: p, final: true}";
    let solver =
        Solver::new(client, table(stages)).with_limits(Limits::default().with_time(Duration::MAX));
    assert_eq!(solver.solve("p").await.unwrap().answer(), Some("x"));
}
