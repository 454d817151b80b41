//! The last question of a run whose budget is nearly spent.

use cogwork_llm::{ChatRequest, Message};
use cogwork_text::OneLine;
use cogwork_typed::ask::{Limits, Reserve};
use schemars::JsonSchema;
use serde::Deserialize;

use super::ask::{Ask, Question};
use super::{Answer, Call, Solving, StageReply};
use crate::{Session, Thought};

/// The name of the question.
pub(super) const NAME: &str = "conclusion";
/// The maximum number of characters of a text of a thought.
const TEXT: usize = 600;
/// The maximum number of bytes of the thoughts.
const BYTES: usize = 8_000;

/// The answer to the last question.
#[derive(Deserialize, JsonSchema)]
struct BestAnswer {
    /// the best answer to the problem, short and complete
    answer: String,
}

/// Returns the question for the best answer that follows from the thoughts so far.
///
/// It consists of the opening of the conversation and the newest thoughts of all branches, about
/// 8,000 bytes of them.
pub(super) fn conclusion(opening: [Message; 2], session: &Session) -> Question {
    let question = format!(
        "The budget for this problem is nearly spent, so this is the last question.\n\
         {}\
         Give the best answer to the problem that follows from this, even if it is uncertain.",
        thoughts_of(session)
    );

    let mut question = Ask::of::<BestAnswer>(question).with_name(NAME).question;
    question.messages = opening.into_iter().collect();
    question
}

/// Returns the answer in a reply to the last question.
pub(super) fn answer(reply: &StageReply) -> Option<Answer> {
    let BestAnswer { answer } = reply.value().ok()?;
    let answer = answer.trim();
    (!answer.is_empty()).then(|| Answer::new(answer))
}

/// Returns the newest thoughts, oldest first, each on one line.
fn thoughts_of(session: &Session) -> String {
    let mut bytes = 0_usize;
    let mut lines: Vec<String> = session
        .thoughts()
        .iter()
        .rev()
        .map(line)
        .take_while(|line| {
            bytes = bytes.saturating_add(line.len());
            bytes <= BYTES
        })
        .collect();
    lines.reverse();

    if lines.is_empty() {
        return String::new();
    }

    let left_out = session.thoughts().len() - lines.len();
    let heading = match left_out {
        0 => "The thoughts so far:".to_owned(),
        _ => format!("The thoughts so far, without the first {left_out}:"),
    };
    format!("{heading}\n{}\n\n", lines.join("\n"))
}

fn line(thought: &Thought) -> String {
    let mut line = format!("- {}: {}", thought.stage(), short(thought.text()));

    for (name, value) in thought.details() {
        line.push_str(&format!(" · {name} = {}", short(&value)));
    }

    line
}

fn short(text: &str) -> String {
    OneLine::new(text).with_max_chars(TEXT).to_string()
}

/// Returns what is kept for the last question, which is sent as `request`.
pub(super) fn reserve(limits: &Limits, solving: &Solving, request: &ChatRequest) -> Reserve {
    let spent = solving.spent();
    let time_of_a_call = spent.time.checked_div(spent.calls).unwrap_or_default();

    let newest = solving.calls().iter().rev().filter_map(|call| match call {
        Call::Model(asked) => asked.tries.last(),
        Call::Tool(_) => None,
    });
    let newest = newest.map(|last| {
        let tokens = u64::try_from(last.reply.len() / 4).unwrap_or(u64::MAX);
        (tokens, time_of_a_call)
    });

    limits.reserve(newest).with_request(request)
}
