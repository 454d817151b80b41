//! The tool `think-session-manager`.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{CallToolResponse, Tool, ToolAnnotations};
use serde_json::json;

use crate::arguments::Arguments;
use crate::think::schema;
use crate::think::session_calls::{SessionCall, perform};
use crate::think::sessions::ThinkSessions;
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Lists, shows, resumes and searches sessions.
pub(super) struct ThinkSessionManager {
    sessions: Arc<ThinkSessions>,
}

const ACTIONS: [(&str, SessionCall); 4] = [
    ("list", SessionCall::List),
    ("get", SessionCall::Show),
    ("resume", SessionCall::Resume),
    ("search", SessionCall::Search),
];

impl ThinkSessionManager {
    pub(super) fn new(sessions: Arc<ThinkSessions>) -> Self {
        Self { sessions }
    }
}

#[async_trait]
impl ServerTool for ThinkSessionManager {
    fn definition(&self) -> Tool {
        let names = ACTIONS.map(|(name, _)| name);
        let orders = ["timestamp", "thoughtCount", "duration"];
        let strategies = self.sessions.strategies();

        let properties = vec![
            ("action", json!({"type": "string", "enum": names})),
            ("sessionId", schema::session_id()),
            ("limit", json!({"type": "integer", "minimum": 1})),
            ("offset", json!({"type": "integer", "minimum": 0})),
            ("query", json!({"type": "string"})),
            (
                "strategy",
                schema::strategy(strategies, "Only sessions with this strategy."),
            ),
            ("sortBy", json!({"type": "string", "enum": orders})),
            (
                "completionStatus",
                json!({"type": "string", "enum": ["open", "complete"]}),
            ),
        ];
        let annotations = ToolAnnotations::from_raw(
            Some("Find sessions with the names of think-strategies".to_owned()),
            Some(true),
            Some(false),
            Some(true),
            Some(false),
        );
        Tool::new(
            "think-session-manager",
            "The operations list, get, resume and search of `think_session`.",
            schema::object(properties, &["action"]),
        )
        .with_annotations(annotations)
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        let action = arguments.required_choice("action", &ACTIONS)?;

        // Topics aren't shown, and a search finds all words or nothing.
        for name in ["includeTopics", "minScore"] {
            arguments.value(name);
        }
        perform(&self.sessions, call.connection, action, arguments).await
    }
}
