//! Functions that the tests of all methods share.

use std::error::Error;
use std::fmt::Write;

use cogwork_llm::{ChatRequest, LlmError, LlmErrorKind, Message, ScriptedClient};
use cogwork_strategies::{Asked, Call, Method, SolveError, Solver, Solving};
use cogwork_tools::{ToolError, Tools, function};
use serde_json::Value;

/// Returns the heights of two mountains, and a subtraction.
pub(crate) fn tools() -> Tools {
    let height = |place: Value| async move {
        match place["of"].as_str() {
            Some("Galdhøpiggen") => Ok("2469".to_owned()),
            Some("Snøhetta") => Ok("2286".to_owned()),
            _ => Err(ToolError::failed("not on the map")),
        }
    };
    let minus = |input: Value| async move {
        let number = |name: &str| input[name].as_str()?.parse::<i64>().ok();
        match (number("a"), number("b")) {
            (Some(a), Some(b)) => Ok((a - b).to_string()),
            _ => Err(ToolError::failed("`a` and `b` must be numbers")),
        }
    };

    let tools = Tools::new().with(function("height", "The height of a mountain.", height));
    let tools = tools.unwrap().with(function("minus", "a - b.", minus));
    tools.unwrap()
}

/// Returns a solver with tools, whose model gives these replies, and the client.
pub(crate) fn scripted(
    method: impl Into<Box<dyn Method>>,
    replies: impl IntoIterator<Item = impl Into<String>>,
) -> (Solver, ScriptedClient) {
    let replies: Vec<String> = replies.into_iter().map(Into::into).collect();
    let client = ScriptedClient::new(replies);
    let solver = Solver::new(client.clone(), method).with_tools(tools());
    (solver, client)
}

/// Returns the thoughts, the answer, the end and the cost of a run.
pub(crate) fn told(solved: &Solving) -> String {
    let mut told = solved.to_string();
    let _ = write!(told, "answer: {}", solved.answer().unwrap_or("(none)"));
    if let Some(confidence) = solved.confidence() {
        let _ = write!(told, " (confidence {confidence:.2})");
    }

    let (end, spent) = (solved.end().unwrap(), solved.spent());
    let _ = write!(told, "\nend: {end}\nspent: {spent}");
    told
}

/// Returns how a run ended, and with which answer.
pub(crate) fn ended(solved: &Solving) -> String {
    let answer = solved.answer().unwrap_or("(none)").replace('\n', ", ");
    format!("{}: {answer}", solved.end().unwrap())
}

/// Returns whether a run failed because no reply could be used.
pub(crate) fn is_unreadable(error: &SolveError) -> bool {
    error.to_string().contains("no reply could be used: ")
}

/// Returns the kind of the client's error that is the cause, if there is one.
pub(crate) fn kind_of(error: &SolveError) -> Option<LlmErrorKind> {
    let source = error.source()?.downcast_ref::<LlmError>();
    source.map(LlmError::kind)
}

/// Returns what was wrong with the replies of a run.
pub(crate) fn complaints(trace: &Solving) -> String {
    let tries = trace.calls().iter().filter_map(|call| match call {
        Call::Model(Asked { log, .. }) => Some(&log.tries),
        _ => None,
    });
    let complaints = tries.flatten().filter_map(|one| one.complaint.as_deref());
    complaints.collect::<Vec<_>>().join("\n")
}

/// Returns a conversation as text.
pub(crate) fn conversation(request: &ChatRequest) -> String {
    let said = |message: &Message| {
        let calls = message.tool_calls().iter();
        let calls: String = calls
            .map(|call| format!("\n-> {}({})", call.name(), call.arguments()))
            .collect();
        format!("[{}] {}{calls}", message.role(), message.text())
    };
    let messages = request.messages().iter().map(said);
    messages.collect::<Vec<_>>().join("\n\n")
}

/// Returns whether every request starts with the conversation of the previous one, so that servers
/// can reuse their cache.
pub(crate) fn only_append(requests: &[ChatRequest]) -> bool {
    let messages = |request: &ChatRequest| request.messages().iter().cloned().collect::<Vec<_>>();
    let mut pairs = requests.iter().zip(requests.iter().skip(1));
    pairs.all(|(before, after)| messages(after).starts_with(&messages(before)))
}
