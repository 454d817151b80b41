//! What the tests of all drivers share.

use std::fmt::Write;

use cogwork_llm::{ChatRequest, Message};
use cogwork_strategies::Solved;

/// A solved problem as people read it: thoughts, answer, end, cost.
pub(crate) fn told(solved: &Solved) -> String {
    let mut told = solved.trace().to_string();
    let _ = write!(told, "answer: {}", solved.answer().unwrap_or("(none)"));
    if let Some(confidence) = solved.confidence() {
        let _ = write!(told, " (confidence {confidence:.2})");
    }

    let _ = write!(told, "\nend: {}\nspent: {}", solved.end(), solved.spent());
    told
}

/// A conversation as the model reads it.
pub(crate) fn conversation(request: &ChatRequest) -> String {
    let said = |message: &Message| {
        let calls: String = message
            .tool_calls()
            .iter()
            .map(|call| format!("\n-> {}({})", call.name(), call.arguments()))
            .collect();
        format!("[{}] {}{calls}", message.role(), message.text())
    };
    request
        .messages()
        .iter()
        .map(said)
        .collect::<Vec<_>>()
        .join("\n\n")
}

/// Whether every request begins with the whole conversation of the one before it: servers then read only
/// what is new.
pub(crate) fn only_append(requests: &[ChatRequest]) -> bool {
    requests.windows(2).all(|two| {
        let [before, after] = two else { return true };
        let (before, after): (Vec<_>, Vec<_>) = (
            before.messages().iter().collect(),
            after.messages().iter().collect(),
        );
        after.starts_with(&before)
    })
}
