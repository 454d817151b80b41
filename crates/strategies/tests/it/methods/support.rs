//! Functions that the tests of all drivers share.

use std::fmt::Write;

use cogwork_llm::{ChatRequest, Message};
use cogwork_strategies::Solved;

/// Returns the thoughts, the answer, the end and the cost of a run.
pub(crate) fn told(solved: &Solved) -> String {
    let mut told = solved.trace().to_string();
    let _ = write!(told, "answer: {}", solved.answer().unwrap_or("(none)"));
    if let Some(confidence) = solved.confidence() {
        let _ = write!(told, " (confidence {confidence:.2})");
    }

    let _ = write!(told, "\nend: {}\nspent: {}", solved.end(), solved.spent());
    told
}

/// Returns a conversation as text.
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

/// Returns whether every request starts with the conversation of the previous one, so that servers can reuse
/// their cache.
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
