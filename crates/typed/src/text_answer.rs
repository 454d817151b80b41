//! Answers in text.

use crate::ask::{NoAnswer, no_answer};

use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::reader::ReadAnswer;

/// Reads an answer in text: the reply without its thinking.
pub(crate) fn read_text(text: &str) -> Result<ReadAnswer<String>, AnswerProblem> {
    let answer = match cogwork_llm::split_thinking(text) {
        Some(split) if split.is_opened => split.answer.trim_start(),
        _ => text,
    };

    if no_answer(answer, "") == Some(NoAnswer::Empty) {
        let message = "the reply is empty; expected an answer";
        return Err(AnswerProblem::new(Kind::Empty, 1, message));
    }

    Ok(ReadAnswer {
        value: answer.to_owned(),
        repairs: Vec::new(),
    })
}
