//! Reads the tool calls that a model writes into its reply, for servers that don't support tools.

use std::sync::LazyLock;

use cogwork_llm::ToolCall;
use cogwork_typed::{AnswerProblem, AnswerProblemKind as Kind, AnswerReader};
use serde_json::Value;

use super::reader::in_one_message;
use super::types::{Call, WithCalls};

static READER: LazyLock<AnswerReader<WithCalls>> = LazyLock::new(AnswerReader::new);

/// Returns the calls of a reply; none if it doesn't request any. Their ids begin with `id`.
///
/// Of several blocks with calls, the first one counts, because what follows was written without
/// their results.
pub(crate) fn read_calls(text: &str, id: &str) -> Result<Vec<ToolCall>, AnswerProblem> {
    let mut fault = None;

    for read in READER.read_each(text) {
        match read {
            // A thought, or a form with an empty list that a schema required.
            Ok(read) if read.value.tool_calls.is_empty() => {}
            Ok(read) => {
                let numbered = (1..).zip(read.value.tool_calls);
                let calls = numbered.map(|(number, call)| tool_call(format!("{id}{number}"), call));
                return Ok(calls.collect());
            }
            Err(problem) => {
                fault = fault.or(Some(problem).filter(|problem| is_about_calls(problem, text)));
            }
        }
    }

    match fault {
        None => Ok(Vec::new()),
        Some(problem) => Err(in_one_message(&problem)),
    }
}

/// Returns whether a reply has calls that can't be read. What else is wrong is the matter of the
/// reader of thoughts.
fn is_about_calls(problem: &AnswerProblem, text: &str) -> bool {
    let is_syntax = matches!(problem.kind(), Kind::Malformed | Kind::CutOff);
    problem.pointer().starts_with("/tool_calls") || (is_syntax && text.contains("tool_calls:"))
}

fn tool_call(id: String, call: Call) -> ToolCall {
    let input = match call.input {
        Value::Null => "{}".to_owned(),
        // A server without objects of any keys was asked for JSON in a text.
        Value::String(text) => text,
        input => input.to_string(),
    };
    ToolCall::new(id, call.name, input)
}
