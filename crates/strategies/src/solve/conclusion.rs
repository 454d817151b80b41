//! The last question of a run whose budget is nearly spent.

use std::sync::Arc;

use cogwork_typed::ask::{Format, Reserve};
use schemars::JsonSchema;
use serde::Deserialize;

use super::context::Batch;
use super::{Answer, Ask, Call, Solver, Solving, StageReply};
use crate::session::Session;

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

/// Returns the question for the best answer that follows from the thoughts so far, and what is kept
/// for it, unless the model has given an answer or no conclusion is wanted.
///
/// It consists of the opening of the conversation and the newest thoughts of all branches, about
/// 8,000 bytes of them.
pub(super) fn conclusion(solver: &Solver, solving: &Solving) -> Option<(Arc<Batch>, Reserve)> {
    // Asking again for an answer that the model gave would cost a call, and may lose it.
    let is_open = solving.best.is_none() || solving.is_guess;
    if !is_open || !solver.limits.concludes() {
        return None;
    }

    let question = format!(
        "The budget for this problem is nearly spent, so this is the last question.\n\
         {}\
         Give the best answer to the problem that follows from this, even if it is uncertain.",
        thoughts_of(&solving.session)
    );
    let question = Ask::of::<BestAnswer>(question).with_name(NAME).question;
    let messages = solver.opening(&solving.problem);
    let request = solver.request(&messages, &question, Format::Text);
    let reserve = reserve(solver, solving).with_request(&request);

    let batch = Batch {
        stage: NAME.to_owned(),
        messages,
        questions: vec![question],
        ..Batch::default()
    };
    Some((Arc::new(batch), reserve))
}

/// Returns what is kept for a conclusion. It is expected to take as long as the calls so far, and
/// half as long again, since no call is like the others.
fn reserve(solver: &Solver, solving: &Solving) -> Reserve {
    let spent = solving.spent();
    // The slowest call would be too careful after a cold start, and the fastest too late.
    let time = spent.time.checked_div(spent.calls).unwrap_or_default();
    let time = time.saturating_add(time / 2);

    let newest = solving.calls.iter().rev().filter_map(Call::last_reply);
    // A token has about four bytes.
    let newest = newest.map(|reply| (u64::try_from(reply.len() / 4).unwrap_or(u64::MAX), time));
    solver.limits.reserve(newest)
}

/// Returns the answer in a reply to the last question.
pub(super) fn answer(reply: &StageReply) -> Option<Answer> {
    let BestAnswer { answer } = reply.value().ok()?;
    let answer = answer.trim();
    (!answer.is_empty()).then(|| answer.into())
}

/// Returns the newest thoughts, oldest first, each on one line.
fn thoughts_of(session: &Session) -> String {
    let mut bytes = 0_usize;
    let mut lines: Vec<String> = session
        .thoughts()
        .iter()
        .rev()
        .map(|thought| format!("- {}", thought.line(TEXT)))
        .take_while(|line| {
            bytes = bytes.saturating_add(line.len());
            bytes <= BYTES
        })
        .collect();
    // The newest were taken first, because the oldest are the ones to leave out.
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
