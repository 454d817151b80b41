//! Tools that the model calls within a turn, on a server that supports them.

use std::time::Duration;

use cogwork_cot::{ChainOfThought, Thought};
use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{
    ChatRequest, ChatResponse, FinishReason, Message, Role, ScriptedClient, ToolCall, ToolChoice,
};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::ask::{Limits, ToolUse};
use cogwork_typed::{AnswerProblem, AnswerProblemKind};
use insta::assert_snapshot;
use schemars::JsonSchema;
use serde::Deserialize;

#[cfg(feature = "console")]
use crate::node::reporting::Screen;
use crate::node::support::{FIRST, LAST, SECOND, conversation, cot_error, failure, solve, source};

#[derive(Deserialize, JsonSchema)]
struct Factors {
    factors: Vec<i64>,
}

#[derive(Deserialize, JsonSchema)]
struct Nothing {}

/// `multiply` works, `fail` fails, and `hang` never returns.
pub(crate) fn tools() -> Tools {
    let product = |input: Factors| async move { Ok(input.factors.iter().product::<i64>()) };
    let multiply = function("multiply", "Multiplies whole numbers.", product);
    let fail = function("fail", "Fails.", |_: Nothing| async {
        Err::<String, _>(ToolError::failed("on fire"))
    });
    let hang = function("hang", "Never returns.", |_: Nothing| async {
        std::future::pending::<Result<String, ToolError>>().await
    });

    let tools = Tools::new().with(multiply).unwrap();
    tools.with(fail).unwrap().with(hang).unwrap()
}

pub(crate) const INPUT: &str = r#"{"factors": [12, 12]}"#;

pub(crate) fn multiply(id: &str) -> ToolCall {
    ToolCall::new(id, "multiply", INPUT)
}

fn calls(calls: impl IntoIterator<Item = ToolCall>) -> ChatResponse {
    ChatResponse::new("")
        .with_finish_reason(FinishReason::ToolCalls)
        .with_tool_calls(calls)
}

fn replies<R: Into<ChatResponse>>(replies: impl IntoIterator<Item = R>) -> ScriptedClient {
    let native = Capabilities::none().with(Capability::Tools);
    let native = native
        .with(Capability::JsonSchema)
        .with(Capability::JsonMode);
    ScriptedClient::new(replies.into_iter().map(Into::into)).with_capabilities(native)
}

fn text(reply: &str) -> ChatResponse {
    ChatResponse::new(reply)
}

fn node(client: &ScriptedClient) -> ChainOfThought {
    ChainOfThought::new(client.clone()).with_tools(tools())
}

/// The calls of a thought, each in a line.
pub(crate) fn shown(calls: &[ToolUse]) -> String {
    let line = |used: &ToolUse| {
        let sign = if used.failed { "✗" } else { "→" };
        let (name, input, output) = (&used.name, &used.arguments, &used.result);
        format!("{name} {input} {sign} {output}")
    };
    calls.iter().map(line).collect::<Vec<_>>().join("\n")
}

fn sends_all(request: &ChatRequest) -> bool {
    let names: Vec<_> = request.tools().iter().map(|tool| tool.name()).collect();
    names == ["fail", "hang", "multiply"]
}

#[tokio::test]
async fn a_tool_is_called_within_a_turn_and_its_result_leads_to_the_thought() {
    let call = calls([multiply("a")]);
    let client = replies([text(FIRST), call, text(SECOND), text(LAST)]);
    let reasoning = solve(node(&client)).await;

    assert_eq!(reasoning.answer(), Some("150"));
    let [first, second, last] = reasoning.thoughts() else {
        panic!("three thoughts")
    };

    assert_eq!(first.trace.tool_calls, []);
    assert_eq!(last.trace.tool_calls, []);
    assert_snapshot!(shown(&second.trace.tool_calls), @r#"multiply {"factors": [12, 12]} → 144"#);

    let spent = |thought: &Thought| {
        let spent = thought.trace.spent;
        (spent.calls, spent.tool_calls)
    };
    assert_eq!([first, second, last].map(spent), [(1, 0), (2, 1), (1, 0)]);

    let requests = client.requests();
    assert!(requests.iter().all(sends_all));

    // The request with the result is the one before it, the call, and the result.
    let before = requests[1].messages().len();
    let messages: Vec<_> = requests[2].messages().iter().skip(before).collect();
    let [call, result] = messages[..] else {
        panic!("two messages")
    };
    assert_eq!(call.tool_calls(), [multiply("a")]);
    assert_eq!((call.role(), call.text()), (Role::Assistant, ""));
    assert_eq!((result.tool_call_id(), result.text()), (Some("a"), "144"));

    for request in &requests {
        assert_eq!((request.format(), request.tool_choice()), (None, None));
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_goes_wrong_with_a_call_is_its_result() {
    let wrong = calls([
        ToolCall::new("a", "divide", "{}"),
        ToolCall::new("b", "multiply", r#"{"factors": "12"}"#),
        ToolCall::new("c", "multiply", "12 * 12"),
        ToolCall::new("d", "fail", "{}"),
    ]);
    let slow = calls([ToolCall::new("a", "hang", "{}"), multiply("b")]);
    let truncated = calls([multiply("a")]).with_finish_reason(FinishReason::Length);
    let filtered = calls([multiply("b")]).with_finish_reason(FinishReason::ContentFilter);
    let client = replies([wrong, slow, truncated, filtered, text(LAST)]);
    let reasoning = solve(node(&client)).await;

    let thought = &reasoning.thoughts()[0];
    assert_snapshot!(shown(&thought.trace.tool_calls), @r#"
    divide {} ✗ there is no tool `divide`; expected `fail`, `hang` or `multiply`
    multiply {"factors": "12"} ✗ bad input for the tool `multiply`: invalid type: string "12", expected a sequence
    multiply 12 * 12 ✗ bad input for the tool `multiply`: the arguments are not a JSON object: invalid type: integer `12`, expected a map at line 1 column 2
    fail {} ✗ the tool `fail` failed: on fire
    hang {} ✗ the tool `hang` took longer than 30s
    multiply {"factors": [12, 12]} → 144
    multiply {"factors": [12, 12]} ✗ the reply with this call was cut off at the limit of tokens; expected a whole one
    multiply {"factors": [12, 12]} ✗ the reply with this call was withheld in part by a filter; expected a whole one
    "#);
    let spent = thought.trace.spent;
    assert_eq!((spent.tool_calls, spent.time.as_secs()), (6, 30));

    let request = &client.requests()[1];
    let messages = request.messages().iter();
    assert_eq!(messages.filter(|one| one.is_tool_failure()).count(), 4);
}

#[tokio::test]
async fn only_some_calls_of_a_reply_are_made() {
    let many = calls((0..18).map(|number| multiply(&number.to_string())));
    let client = replies([many, text(LAST)]);
    let reasoning = solve(node(&client)).await;

    let trace = &reasoning.thoughts()[0].trace;
    let failed = trace.tool_calls.iter().filter(|used| used.failed).count();
    assert_eq!((failed, trace.spent.tool_calls), (2, 16));

    // Every call is answered, since servers refuse a conversation in which one isn't.
    let requests = client.requests();
    let results = requests[1].messages().iter().map(Message::tool_call_id);
    assert_eq!(results.flatten().count(), 18);
}

#[tokio::test]
async fn after_the_last_round_the_model_is_asked_without_tools() {
    let again = || calls([multiply("a")]);
    let client = replies([again(), again(), text(LAST)]);
    let reasoning = solve(node(&client).with_tool_rounds(2)).await;

    let calls = &reasoning.thoughts()[0].trace.tool_calls;
    assert_eq!(calls.len(), 2);

    let requests = client.requests();
    let choices: Vec<_> = requests.iter().map(|one| one.tool_choice()).collect();
    assert_eq!(choices, [None, None, Some(&ToolChoice::None)]);

    // The tools are still part of the request, since its conversation contains calls.
    assert!(requests.iter().all(sends_all));

    // Without tools, the server can hold the reply to its form.
    let formats: Vec<_> = requests.iter().map(|one| one.format().is_some()).collect();
    assert_eq!(formats, [false, false, true]);
}

#[tokio::test]
async fn a_model_that_calls_tools_for_ever_is_asked_again_and_then_given_up() {
    let endless = (0..9).map(|number| calls([multiply(&number.to_string())]));
    let client = replies(endless);
    let error = failure(node(&client).with_tool_rounds(3).with_asks_again(1)).await;
    let error = cot_error(&error);
    assert_snapshot!(error, @"thought 1: no usable reply in 2 tries: the reply calls tools, but no more tools may be called in this turn; expected a plan");
    let kind = source::<AnswerProblem>(error).kind();
    assert_eq!(kind, AnswerProblemKind::ToolCalls);
    assert_eq!(error.trace().tool_calls.len(), 3);
    assert_eq!(client.requests().len(), 5);

    let request = &client.requests()[4];
    assert_snapshot!(conversation(request, request.messages().len() - 2), @"
    [assistant]
    (empty)

    [user]
    You cannot call any more tools in this thought.
    Reply now with the JSON object that contains current_thinking, planning and next_thought_needed, and work with what the tools have returned so far.
    ");
}

#[tokio::test(start_paused = true)]
async fn a_call_is_part_of_the_time_and_the_error_lists_those_that_were_running() {
    let both = calls([multiply("a"), ToolCall::new("b", "hang", "{}")]);
    let client = replies([both]);
    let limits = Limits::default().with_time(Duration::from_secs(7));
    let limits = limits.with_conclude(false);
    let error = failure(node(&client).with_limits(limits)).await;
    let error = cot_error(&error);
    assert!(error.limit().is_some());
    assert_eq!(error.trace().spent.time, Duration::from_secs(7));
    assert_snapshot!(shown(&error.trace().tool_calls), @r#"
    multiply {"factors": [12, 12]} → 144
    hang {} ✗ the turn ended before the tool returned
    "#);
}

/// Three turns, of which the first two call a tool.
fn three_turns() -> ScriptedClient {
    replies([
        calls([multiply("a")]),
        text(FIRST),
        calls([ToolCall::new("b", "fail", "{}")]),
        text(SECOND),
        text(LAST),
    ])
}

#[tokio::test]
async fn later_turns_show_what_tools_returned() {
    let client = three_turns();
    solve(node(&client)).await;

    // The last request begins with the problem, after the system text and the example.
    assert_snapshot!(conversation(&client.requests()[4], 5));
}

#[tokio::test]
async fn long_results_are_shortened_in_later_turns() {
    let long = function("long", "Long.", |_: Nothing| async {
        Ok("ab".repeat(5_000))
    });
    let tools = Tools::new().with(long).unwrap();
    let long = || ToolCall::new("a", "long", "{}");
    let client = replies([calls((0..16).map(|_| long())), text(FIRST), text(LAST)]);
    let node = ChainOfThought::new(client.clone()).with_tools(tools);
    solve(node).await;

    let requests = client.requests();
    let texts = requests[1].messages().iter().map(Message::text);
    assert_eq!(texts.filter(|text| text.len() == 10_000).count(), 16);

    let last = requests[2].messages().last().unwrap().text().to_owned();
    let (results, _) = last.split_once("The plan after thought").unwrap();
    assert!(results.chars().count() < 8_200, "{}", results.len());
    assert_eq!(results.matches("<result>").count(), 7);
    assert_eq!(results.matches("b […]\n</result>").count(), 7);
    assert!(results.contains("returned:\n[…]\n<call tool=\"long\">"));
}

#[cfg(feature = "console")]
#[tokio::test]
async fn the_console_shows_each_call_on_one_line() {
    let long = format!(r#"{{"factors": [{}1]}}"#, "1, ".repeat(99));
    let calls = calls([
        multiply("a"),
        ToolCall::new("b", "\u{1b}[2J", r#"{"text": "\u202e\n"}"#),
        ToolCall::new("c", "multiply", long),
    ]);
    let client = replies([calls, text(LAST)]);
    let out = Screen::default();
    let reporter = cogwork_cot::ConsoleReporter::to(out.clone()).with_colors(false);
    solve(node(&client).with_reporter(reporter)).await;

    let shown = out.text();
    assert_snapshot!(shown.split("Thought 1").next().unwrap(), @r#"
    Problem
    What is 12 * 12 + 6?

    multiply {"factors": [12, 12]} → 144
    \u{1b}[2J {"text": "\u202e\n"} ✗ there is no tool `\u{1b}[2J`; expected `fail`, `hang` or `multiply`
    multiply {"factors": [1, 1, 1, 1, 1, 1, 1, 1, 1, … → 1
    "#);
}
