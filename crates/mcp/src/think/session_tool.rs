//! The tool `think_session`.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{CallToolResponse, Tool, ToolAnnotations};
use serde_json::{Value, json};

use super::given;
use super::schema;
use super::session_calls::{SessionCall, perform};
use super::sessions::ThinkSessions;
use crate::arguments::Arguments;
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Begins, changes, lists, shows and exports sessions.
pub(crate) struct ThinkSession {
    sessions: Arc<ThinkSessions>,
}

impl ThinkSession {
    pub(crate) fn new(sessions: Arc<ThinkSessions>) -> Self {
        Self { sessions }
    }
}

#[async_trait]
impl ServerTool for ThinkSession {
    fn definition(&self) -> Tool {
        let strategies = self.sessions.strategies();
        let names = SessionCall::ALL.iter().map(|(name, _)| *name);
        let names: Vec<&str> = names.collect();

        let mut properties = vec![(
            "operation",
            json!({"type": "string", "enum": names, "description": "What to do."}),
        )];
        properties.extend(own_properties());
        properties.extend([
            (
                "strategy",
                schema::strategy(
                    strategies,
                    "The strategy: of a new session, to change to, of a part, or to list.",
                ),
            ),
            ("purpose", schema::purpose()),
            ("sessionId", schema::session_id()),
        ]);
        properties.extend(given::properties());

        let annotations = ToolAnnotations::from_raw(
            Some("Manage sessions of think".to_owned()),
            Some(false),
            Some(true),
            Some(false),
            Some(false),
        );
        Tool::new(
            "think_session",
            DESCRIPTION,
            schema::object(properties, &["operation"]),
        )
        .with_annotations(annotations)
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        arguments.alias("action", "operation");
        let operation = arguments.required_choice("operation", &SessionCall::ALL)?;
        perform(&self.sessions, call.connection, operation, arguments).await
    }
}

const DESCRIPTION: &str = "\
Manages the sessions of `think`.
- new: begins a session with `strategy`, and with a `purpose` and a first `thought` if you have them
- show: where a session is, and its thoughts, a page at a time (`branch`, `offset`, `limit`)
- resume: continues an earlier session
- fork: a new `branch` that continues from the thought `from`
- switch: makes `branch` the current one
- score: gives a branch a `score` from 0 to 10; select_best switches to the best one
- merge: joins `branches` into the branch `into` with a `thought`; `rule` resolves conflicts
- prune: abandons `branch`
- change_strategy: continues with another `strategy`, with a `thought` that explains why
- begin_part: starts a nested `strategy`; once it has ended, the outer one continues
- undo: removes the last thought
- list, search: sessions by `query`, `strategy` and `status`
- export: the session as `format` json, markdown or mermaid
- remove: deletes a session, also one of another tool
- strategies: all strategies, or all stages of `strategy`";

/// Returns the arguments that `think` doesn't have, or that have another meaning there.
fn own_properties() -> Vec<(&'static str, Value)> {
    vec![
        (
            "branch",
            text("The name of a branch. By default, the current one; for `fork`, a new name."),
        ),
        (
            "from",
            count("The thought to fork from. By default, the last one of the current branch."),
        ),
        ("branches", texts("The names of the branches to merge.")),
        (
            "into",
            text("The branch to merge into. By default, the current one."),
        ),
        (
            "rule",
            choice(
                &["keep_target", "take_source", "highest_score", "refuse"],
                "Whose parameters are taken if merged branches differ. The default is keep_target.",
            ),
        ),
        ("score", score()),
        (
            "last",
            count("The thought that `undo` is to remove. Refused if it is not the last one."),
        ),
        (
            "allowEarlyEnd",
            flag("Whether branches of a new session may end before a final stage."),
        ),
        (
            "format",
            choice(
                &["json", "markdown", "mermaid"],
                "The form of an export. The default is markdown.",
            ),
        ),
        (
            "query",
            text("Words that all occur in the purpose or the thoughts of a session."),
        ),
        (
            "status",
            choice(
                &["open", "complete"],
                "Whether a branch of the session has ended.",
            ),
        ),
        (
            "sortBy",
            choice(
                &["updated", "created", "entries", "duration"],
                "The order of a list. The default is updated.",
            ),
        ),
        (
            "limit",
            count("How many thoughts or sessions to list. At most 100."),
        ),
        ("offset", count("How many thoughts or sessions to skip.")),
    ]
}

fn text(description: &str) -> Value {
    json!({"type": "string", "description": description})
}

fn texts(description: &str) -> Value {
    json!({"type": "array", "items": {"type": "string"}, "description": description})
}

fn flag(description: &str) -> Value {
    json!({"type": "boolean", "description": description})
}

fn count(description: &str) -> Value {
    json!({"type": "integer", "minimum": 0, "description": description})
}

fn score() -> Value {
    let description = "The score of a branch.";
    json!({"type": "number", "minimum": 0, "maximum": 10, "description": description})
}

fn choice(names: &[&str], description: &str) -> Value {
    json!({"type": "string", "enum": names, "description": description})
}
