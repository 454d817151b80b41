//! Answers and non-answers, in every strategy.

use std::iter::repeat_n;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{ChatRequest, LlmClient, ScriptedClient};
use cogwork_strategies::methods::{React, SelfConsistency};
use cogwork_strategies::{Method, Solver, Solving, StrategyName};
use cogwork_typed::ask::Format;
use serde_json::{Map, Value};

use super::support::{is_unreadable, scripted, tools};
use crate::json::scripts::{PROBLEM, replies, solver};
use crate::support::strategy;

const CHOICE: &str = "Which of these is prime: 9, 15, or none?";
const REFUSAL: &str = "I'm sorry, but I can't help with that.";

/// Returns the replies of a run: those before the one with the answer, that one with another answer,
/// and the others from that one on.
fn answering(name: StrategyName, answer: &str) -> (Vec<String>, String, Vec<String>) {
    let replies = replies(name).into_iter().map(str::to_owned);
    let mut before: Vec<String> = replies.collect();
    let has_answer = |reply: &String| {
        let keys = [
            r#""answer": "51""#,
            r#""action_input": "51""#,
            r#""text": "51""#,
        ];
        keys.iter().any(|key| reply.contains(key))
    };
    let place = before.iter().position(has_answer).unwrap();
    let after = before.split_off(place);
    let other = after[0].replace("\"51\"", &format!("\"{answer}\""));
    (before, other, after)
}

/// Returns all strategies on JSON, and on lines those that have the same fields there.
fn on_formats() -> impl Iterator<Item = (StrategyName, Format)> {
    let formats = [Format::Schema, Format::Text].into_iter();
    let all = formats.flat_map(|format| StrategyName::ALL.map(|name| (name, format)));
    let others = [StrategyName::Rewoo, StrategyName::SelfAsk];
    all.filter(move |(name, format)| format.is_json() || !others.contains(name))
}

fn in_lines(reply: &str) -> String {
    let fields: Map<String, Value> = serde_json::from_str(reply).unwrap();
    let fields = fields.iter().filter(|(_, value)| !value.is_null());
    let lines = fields.map(|(name, value)| match value.as_str() {
        Some(text) => format!("{name}: {text}\n"),
        None => format!("{name}: {value}\n"),
    });
    lines.collect()
}

fn given(
    (name, format): (StrategyName, Format),
    replies: impl IntoIterator<Item = String>,
) -> (Solver, ScriptedClient) {
    let client = match format {
        Format::Text => ScriptedClient::new(replies.into_iter().map(|reply| in_lines(&reply))),
        _ => ScriptedClient::new(replies)
            .with_capabilities(Capabilities::none().with(Capability::JsonSchema)),
    };
    (solver(name, client.clone()), client)
}

fn complaint(request: &ChatRequest) -> String {
    request.messages().last().unwrap().text().to_owned()
}

#[tokio::test]
async fn a_refusal_is_asked_for_again_and_nothing_but_refusals_is_never_an_answer() {
    let language_model = "As an AI language model, I do not calculate.";
    let refusals = [REFUSAL, language_model, "N/A", "unknown", "No answer."];

    for refusal in refusals {
        for run @ (name, format) in on_formats() {
            let (before, refused, after) = answering(name, refusal);
            let asked = before.len();
            let replies = before.iter().cloned().chain([refused.clone()]).chain(after);
            let (solver, client) = given(run, replies);
            let solved = solver.solve(PROBLEM).await.unwrap();
            assert_eq!(solved.answer(), Some("51"), "{name} on {format}: {refusal}");
            assert!(
                solved.is_answered(),
                "{name} on {format}: {refusal}: {}",
                solved.end().unwrap()
            );
            let complaint = complaint(&client.requests()[asked + 1]);
            assert!(
                complaint.contains("That reply cannot be used"),
                "{name} on {format}: {complaint}"
            );

            let (solver, _) = given(run, before.into_iter().chain(repeat_n(refused, 3)));
            let error = solver.with_asks_again(0).solve(PROBLEM).await.unwrap_err();
            assert!(is_unreadable(&error), "{name} on {format}: {error}");
            let best = error.so_far().unwrap().answer();
            let is_refusal = best.is_some_and(|best| best.contains(refusal));
            assert!(!is_refusal, "{name} on {format}: {best:?}");
        }
    }
}

#[tokio::test]
async fn none_is_an_answer_where_the_problem_offers_it() {
    for run @ (name, format) in on_formats() {
        let (before, none, after) = answering(name, "None");
        let after = after.into_iter().skip(1);
        let (solver, _) = given(run, before.into_iter().chain([none]).chain(after));
        let solved = solver.solve(CHOICE).await.unwrap();
        assert_eq!(solved.answer(), Some("None"), "{name} on {format}");
        assert!(solved.is_answered(), "{name} on {format}");
    }

    // So is it as a correction.
    for (problem, answer) in [(CHOICE, "None"), (PROBLEM, "11")] {
        let corrections = ["holds: no\nanswer: None", "holds: no\nanswer: 11"];
        let replies = ["steps:\n- Check.", "results:\n- 9\nanswer: 9"];
        let replies = replies.into_iter().chain(corrections);
        let (solver, _) = scripted(StrategyName::ChainOfThought, replies);
        assert_eq!(solver.solve(problem).await.unwrap().answer(), Some(answer));
    }
}

/// A strategy without a method, whose final stage has these parameters.
fn plain(parameters: &str) -> Box<dyn Method> {
    let stages = format!(
        "problem: {{description: The problem., prompt: State the problem., next: [answer]}}
        answer: {{description: d, prompt: Answer., final: true, parameters: {parameters}}}"
    );
    strategy("plain", &stages).into()
}

#[tokio::test]
async fn a_strategy_from_a_file_asks_again_after_a_refusal() {
    let (solver, client) = scripted(plain("{}"), [REFUSAL, "51"]);
    assert_eq!(solver.solve(PROBLEM).await.unwrap().answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));

    let (solver, _) = scripted(plain("{}"), [REFUSAL]);
    let error = solver.with_asks_again(0).solve(PROBLEM).await.unwrap_err();
    assert!(is_unreadable(&error));
    assert_eq!(error.so_far().unwrap().answer(), None);
}

#[tokio::test]
async fn a_parameter_called_none_is_missing() {
    let free = plain("{reason: {type: string, description: d, optional: true}}");
    let (solver, _) = scripted(free, ["thought: It is low.\nreason: none"]);
    let solved = solver.solve("The risk?").await.unwrap();
    let last = solved.session().thoughts().last().unwrap();
    assert_eq!(last.parameters.get("reason"), None);
}

async fn paths<const N: usize>(replies: [&str; N]) -> (Solving, usize) {
    let method = SelfConsistency {
        paths: 3,
        all_paths: true,
        ..SelfConsistency::default()
    };
    let (solver, client) = scripted(method, replies);
    let solved = solver.with_calls_at_once(1).solve(PROBLEM).await.unwrap();
    (solved, client.requests().len())
}

#[tokio::test]
async fn a_path_without_a_label_is_asked_for_again_unless_it_states_its_answer() {
    let (solved, calls) = paths([
        "It is fifty-one, I would say.",
        "answer: 51",
        "30 + 21, so the answer is **51**.",
        r"Thus $\boxed{51}$.",
    ])
    .await;
    assert_eq!(
        (solved.answer(), solved.confidence(), calls),
        (Some("51"), Some(1.0), 4)
    );

    // The text is kept as the thought.
    let text = solved.to_string();
    assert!(text.contains("30 + 21, so the answer is **51**."), "{text}");
}

#[tokio::test]
async fn paths_that_refuse_are_lost_votes_and_forms_of_one_answer_are_one_vote() {
    let chinese = "抱歉，我无法回答这个问题。";
    let (solved, calls) = paths(["answer: 51", REFUSAL, chinese, REFUSAL, "answer: 51.0"]).await;
    assert_eq!((solved.answer(), calls), (Some("51"), 5));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));

    let (solved, _) = paths(["answer: －５１ ㎞", "answer: 52 km", "answer: “−51 KM”"]).await;
    assert_eq!(solved.answer(), Some("－５１ ㎞"));
    assert_eq!(solved.confidence(), Some(2.0 / 3.0));
}

#[tokio::test]
async fn a_native_finish_that_refuses_is_asked_for_again() {
    let client = ScriptedClient::new([REFUSAL, "51"])
        .with_capabilities(Capabilities::default().with(Capability::Tools));
    assert!(client.capabilities().has(Capability::Tools));

    let solver = Solver::new(client.clone(), React::default()).with_tools(tools());
    assert_eq!(solver.solve(PROBLEM).await.unwrap().answer(), Some("51"));
    assert!(complaint(&client.requests()[1]).contains("the reply declines to answer"));
}
