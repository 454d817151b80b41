//! A loop of the shape that drives any model: one request a turn, the thoughts so far, the last plan.

#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file takes what it needs"
)]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork::llm::{ChatRequest, LlmClient, LlmError, Message};
use cogwork::plan::{Plan, Status, WalkEntry, format_plan, format_plan_for_prompt};
use cogwork_quickstart::RuleBasedClient;
use serde::Deserialize;

/// A reply as the loop reads it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Thought {
    pub current_thinking: String,
    pub planning: Plan,
    pub next_thought_needed: bool,
}

/// More turns than any run may take.
const TOO_MANY: usize = 25;

/// The messages before the problem: instructions, and an exchange about another problem.
fn opening() -> Vec<Message> {
    vec![
        Message::system("Answer in YAML. The problem stands between tags, the last plan too."),
        Message::user("<problem>What is 1 + 1?</problem>\nBegin."),
        Message::assistant(
            "```yaml\ncurrent_thinking: |\n  An example.\nplanning: []\nnext_thought_needed: true\n```",
        ),
    ]
}

/// The request of the next turn.
pub fn request(problem: &str, replies: &[String], plan: Option<&str>) -> ChatRequest {
    let mut messages = opening();
    messages.push(Message::user(format!(
        "<problem>\n{problem}\n</problem>\nMake a plan."
    )));
    messages.extend(
        replies
            .iter()
            .map(|reply| Message::assistant(reply.as_str())),
    );

    messages.extend(
        plan.map(|plan| Message::user(format!("Do the next step.\n<plan>\n{plan}\n</plan>"))),
    );
    ChatRequest::new(messages)
}

pub fn complete(request: ChatRequest) -> Result<String, LlmError> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let response = runtime.block_on(RuleBasedClient::new().complete(request))?;
    assert_eq!(response.usage(), None);

    Ok(response.into_text())
}

pub fn parse(reply: &str) -> Thought {
    let yaml = reply
        .strip_prefix("```yaml\n")
        .and_then(|rest| rest.strip_suffix("```"))
        .expect("one fenced block");
    assert!(yaml.starts_with("current_thinking: |\n"), "{yaml}");
    serde_yaml::from_str(yaml).unwrap_or_else(|error| panic!("{error} in:\n{yaml}"))
}

/// One reply to a problem and a plan, as the turn after `thoughts` earlier ones.
pub fn next(problem: &str, thoughts: usize, plan: &Plan) -> Thought {
    let replies = vec!["an earlier thought".to_owned(); thoughts];
    parse(
        &complete(request(
            problem,
            &replies,
            Some(&format_plan_for_prompt(plan)),
        ))
        .unwrap(),
    )
}

/// Every thought until none is needed any more.
pub fn solve(problem: &str) -> Vec<Thought> {
    let first = parse(&complete(request(problem, &[], None)).unwrap());
    carry_on(problem, vec![first])
}

/// The thoughts after `thoughts`, with them.
pub fn carry_on(problem: &str, mut thoughts: Vec<Thought>) -> Vec<Thought> {
    while let Some(last) = thoughts.last().filter(|last| last.next_thought_needed) {
        assert!(
            thoughts.len() < TOO_MANY,
            "no end to {problem:?}:\n{}",
            text(&thoughts)
        );

        let thought = next(problem, thoughts.len(), &last.planning);
        thoughts.push(thought);
    }

    thoughts
}

/// How to name a real model: in the first thought, and below a refusal.
const NAMING: &str =
    "To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).";

/// What people read as the solution. An answer stands alone; a refusal says how to name a real
/// model, which is checked and taken off.
pub fn solution(thoughts: &[Thought]) -> String {
    let whole = thoughts.last().unwrap().current_thinking.trim_end();
    let refused = whole.starts_with("I cannot answer this problem: ")
        || whole.contains(" is beyond this backend: ");
    let lines: Vec<&str> = whole.lines().collect();

    match lines[..] {
        [answer] if !refused => answer.to_owned(),
        [refusal, NAMING] if refused => refusal.to_owned(),
        _ => panic!("neither an answer alone nor a refusal:\n{whole}"),
    }
}

/// Whether the first thought announces a mistake. It, and no other, says what the backend is.
pub fn announces_mistake(thoughts: &[Thought]) -> bool {
    let (first, later) = thoughts.split_first().unwrap();
    assert!(
        later
            .iter()
            .all(|thought| !thought.current_thinking.contains("stand-in")),
        "{}",
        text(thoughts)
    );

    let lines: Vec<&str> = first.current_thinking.trim_end().lines().collect();
    match lines[..] {
        [
            ..,
            "I am a rule-based stand-in and no language model.",
            NAMING,
        ] => false,
        [
            ..,
            "I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to find and repair.",
            NAMING,
        ] => true,
        _ => panic!("no notice:\n{}", first.current_thinking),
    }
}

/// The solution of a problem, from a whole run.
pub fn answer(problem: &str) -> String {
    solution(&solve(problem))
}

/// The run as people see it.
pub fn text(thoughts: &[Thought]) -> String {
    let one = |(index, thought): (usize, &Thought)| {
        let Thought {
            current_thinking,
            planning,
            next_thought_needed,
        } = thought;
        format!(
            "Thought {} (next: {next_thought_needed})\n{}\n{}\n",
            index + 1,
            current_thinking.trim_end(),
            format_plan(planning)
        )
    };
    thoughts
        .iter()
        .enumerate()
        .map(one)
        .collect::<Vec<_>>()
        .join("\n")
}

/// The paths of the steps to verify.
pub fn marked(plan: &Plan) -> Vec<String> {
    plan.walk()
        .filter(|entry: &WalkEntry<'_>| entry.step.status == Status::VerificationNeeded)
        .map(|entry| entry.path().to_string())
        .collect()
}
