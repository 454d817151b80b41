//! The tool `think-tools`.

use std::sync::Arc;

use async_trait::async_trait;
use rmcp::model::{CallToolResponse, Tool, ToolAnnotations};
use serde_json::json;

use super::strategies::think;
use crate::arguments::Arguments;
use crate::think::answer::{answer, described};
use crate::think::plans::fork;
use crate::think::schema;
use crate::think::sessions::{ThinkSessions, session_id};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// Creates branches. It starts no servers and calls no tools.
pub(super) struct ThinkTools {
    sessions: Arc<ThinkSessions>,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    ConnectServer,
    ExecuteActions,
    ServerStatus,
    CreateBranch,
}

const ACTIONS: [(&str, Action); 4] = [
    ("create-branch", Action::CreateBranch),
    ("server-status", Action::ServerStatus),
    ("connect-server", Action::ConnectServer),
    ("execute-actions", Action::ExecuteActions),
];

impl ThinkTools {
    pub(super) fn new(sessions: Arc<ThinkSessions>) -> Self {
        Self { sessions }
    }

    async fn create_branch(
        &self,
        connection: &crate::connection::Connection,
        mut arguments: Arguments,
    ) -> Result<CallToolResponse, ToolFailure> {
        if arguments.has("thought") {
            return think(&self.sessions, connection, arguments).await;
        }

        arguments.alias("branchId", "branch");
        let plan = fork(&mut arguments)?;
        arguments.finish()?;
        let id = session_id(connection, None)?;
        let report = self.sessions.change(connection, &id, plan).await?;
        Ok(answer(&report))
    }
}

#[async_trait]
impl ServerTool for ThinkTools {
    fn definition(&self) -> Tool {
        let properties = vec![
            (
                "action",
                json!({"type": "string", "enum": ["create-branch", "server-status"]}),
            ),
            ("branchId", json!({"type": "string"})),
            (
                "branchFromThought",
                json!({"type": "integer", "minimum": 1}),
            ),
            ("thought", json!({"type": "string"})),
        ];
        let annotations = ToolAnnotations::from_raw(
            Some("Branch with the names of think-strategies".to_owned()),
            Some(false),
            Some(false),
            Some(false),
            Some(false),
        );
        let description = "Creates a branch of the current session, like `branchFrom` of `think`. \
                           It connects to no servers: call tools yourself, and report what they \
                           return as an `observation` or as `actionResults`.";
        Tool::new(
            "think-tools",
            description,
            schema::object(properties, &["action"]),
        )
        .with_annotations(annotations)
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = Arguments::new(call.arguments);
        match arguments.required_choice("action", &ACTIONS)? {
            Action::CreateBranch => self.create_branch(call.connection, arguments).await,
            Action::ServerStatus => {
                let text = "No servers are connected: the assistant calls tools itself.";
                Ok(described(text.to_owned(), json!({"servers": []})))
            }
            Action::ConnectServer => Err(left_out(
                "`connect-server` is left out on purpose, since it starts any command that a \
                 model writes; connect servers in the settings of the assistant",
            )),
            Action::ExecuteActions => Err(left_out(
                "`execute-actions` is left out, since no servers are connected; call the tools, \
                 and report what they return as `actionResults` of `think-strategies`",
            )),
        }
    }
}

fn left_out(message: &str) -> ToolFailure {
    let data = json!({"error": {"kind": "left_out", "message": message}});
    let message = message.to_owned();
    ToolFailure::Described { message, data }
}
