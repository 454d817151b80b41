//! The definitions of the tools, and results in their form.

use cogwork_text::MultiLine;
use rmcp::model::{
    CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool, ToolAnnotations,
};
use serde_json::{Value, json};

use super::entry::Budget;
use super::view::View;
use crate::ServerLimits;
use crate::method::Method;
use crate::tool::{ToolFailure, schema_of};

const BEGIN: &str = "\
Solve a hard problem step by step, guided by a strategy. You do the reasoning: the result contains the first \
question, and you reply to it with `answer`. Each reply is checked. It leads to the next question, to the same \
question with a description of what is wrong, or to the final answer. The budget limits the replies.

Strategies: `loop` (the default) keeps a plan that is evaluated and corrected in each thought; `chain_of_thought` \
breaks the problem down and checks the answer; `linear` revises and verifies a hypothesis; `step_back` finds the \
principle first; `scratchpad` calculates with variables; `self_ask` asks smaller questions; `self_consistency` \
takes a vote over several paths; `tree_of_thoughts` explores and scores approaches; `react` and `rewoo` use your \
tools, which you describe in `tools` and call when a question asks for it.";

const ANSWER: &str = "\
Reply to the open questions of a session that `begin` started. Write the reply in exactly the form that the \
question asks for. If several questions are open, answer them one by one or together; each is to be answered on \
its own. Without a reply, the open questions are shown again. With `conclude`, the session stops early: you are \
asked once for the best answer so far, and a second `conclude` ends the session without it.";

pub(super) fn begin(limits: &ServerLimits) -> Tool {
    let names: Vec<_> = Method::all().map(Method::as_str).collect();
    let input = json!({
        "type": "object",
        "properties": {
            "problem": {
                "type": "string",
                "description": "The whole problem, with everything that is needed to solve it.",
            },
            "strategy": {"type": "string", "enum": names, "default": Method::Loop.as_str()},
            "budget": {
                "type": "object",
                "description": "Limits of the session.",
                "properties": {
                    "replies": integer(limits.replies, Budget::REPLIES, "Number of replies."),
                    "thoughts": integer(limits.thoughts, Budget::THOUGHTS, "Number of thoughts."),
                    "tokens": integer(u32::MAX as usize, Budget::TOKENS, "Tokens that you read and write, as estimated."),
                    "seconds": integer(Budget::MOST_SECONDS as usize, Budget::SECONDS, "Time since the beginning."),
                },
                "additionalProperties": false,
            },
            "tools": {
                "type": "array",
                "description": "Tools of yours that you may call for the session.",
                "items": {
                    "type": "object",
                    "properties": {
                        "name": {"type": "string", "description": "1 to 64 letters, digits, `_` and `-`."},
                        "description": {"type": "string"},
                        "inputSchema": {"type": "object", "description": "A JSON Schema of the input."},
                    },
                    "required": ["name", "description"],
                    "additionalProperties": false,
                },
            },
            "sessionId": session_id("An id for the session. By default, one is created."),
        },
        "required": ["problem"],
        "additionalProperties": false,
    });

    definition("begin", "Begin guided reasoning", BEGIN, input)
}

pub(super) fn answer() -> Tool {
    let question =
        json!({"type": "string", "description": "The id of the question, if several are open."});
    let reply = json!({"type": "string", "description": "The reply to a question."});
    let failed = json!({"type": "boolean", "description": "Whether a tool failed, and the reply is its error."});

    let input = json!({
        "type": "object",
        "properties": {
            "sessionId": session_id("The session. By default, the one that this connection used last."),
            "reply": reply,
            "question": question,
            "failed": failed,
            "replies": {
                "type": "array",
                "description": "Replies to several questions.",
                "items": {
                    "type": "object",
                    "properties": {"question": question, "reply": reply, "failed": failed},
                    "required": ["question", "reply"],
                    "additionalProperties": false,
                },
            },
            "conclude": {"type": "boolean", "description": "Stops early with the best answer so far."},
            "full": {"type": "boolean", "description": "Shows whole conversations, not only what is new."},
            "trace": {"type": "boolean", "description": "Shows all thoughts in full, the newest up to 1 MiB."},
        },
        "additionalProperties": false,
    });

    definition("answer", "Answer a question", ANSWER, input)
}

fn definition(name: &'static str, title: &str, description: &'static str, input: Value) -> Tool {
    let annotations = ToolAnnotations::from_raw(
        Some(title.to_owned()),
        Some(false),
        Some(false),
        Some(false),
        Some(false),
    );

    let mut tool = Tool::new(name, description, object(input)).annotate(annotations);
    tool.title = Some(title.to_owned());
    tool.output_schema = Some(schema_of::<View>());
    tool
}

fn integer(most: usize, default: u32, description: &str) -> Value {
    json!({
        "type": "integer",
        "minimum": 1,
        "maximum": most,
        "default": most.min(default as usize),
        "description": description,
    })
}

fn session_id(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn object(value: Value) -> JsonObject {
    match value {
        Value::Object(object) => object,
        _ => JsonObject::new(),
    }
}

/// Returns the result of a call, as text and as data. The text is safe to print; the data contains
/// what models and hosts wrote unchanged.
pub(super) fn response(view: &View) -> Result<CallToolResponse, ToolFailure> {
    let data = serde_json::to_value(view).map_err(ToolFailure::message)?;
    let text = MultiLine::new(view).to_string();
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(data);
    Ok(result.into())
}
