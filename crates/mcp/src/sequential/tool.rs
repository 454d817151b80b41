use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::OneLine;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, Tool};

use super::answer::Answer;
use super::arguments::{self, Arguments};
use super::definition::definition;
use super::history::History;
use super::log;
use super::thought::Thought;
use crate::connection::Connection;
use crate::store::{Change, Changed, NewSession, RecordedSessions, SessionKind, SessionStore};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// The maximum number of characters of the title of a session.
const TITLE: usize = 80;

/// The tool `sequentialthinking`. Cloning is cheap; all clones share the sessions.
#[derive(Clone)]
pub(crate) struct SequentialThinking {
    sessions: Arc<RecordedSessions<History>>,
    is_strict: bool,
    has_log: bool,
}

impl SequentialThinking {
    pub(crate) fn new(store: SessionStore, is_strict: bool, has_log: bool) -> Self {
        Self {
            sessions: Arc::new(RecordedSessions::new(store)),
            is_strict,
            has_log,
        }
    }

    async fn record(
        &self,
        connection: &Connection,
        arguments: &Arguments,
    ) -> Result<Answer, ToolFailure> {
        let thought = &arguments.thought;
        let named = arguments.session.clone();
        let new = || NewSession {
            id: named.clone(),
            kind: SessionKind::Sequential,
            title: title(thought),
            strategy: String::new(),
        };

        // Calls without an id are independent of those with one, as if there were no ids.
        let unnamed = || connection.current_or_new(SessionKind::Sequential);
        let id = named.clone().unwrap_or_else(unnamed);
        self.sessions
            .change_or_create_with(
                connection.owner(),
                &id,
                || Some(new()),
                |history| {
                    if self.is_strict {
                        history.check(thought).map_err(ToolFailure::message)?;
                    }
                    history.record(thought);
                    Ok(changed(thought, history))
                },
            )
            .await
    }
}

#[async_trait]
impl ServerTool for SequentialThinking {
    fn definition(&self) -> Tool {
        definition()
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let max_bytes = self.sessions.store().limits().thought_bytes;
        let arguments = arguments::read(call.arguments, max_bytes);
        let arguments = arguments.map_err(ToolFailure::message)?;

        let answer = self.record(call.connection, &arguments).await?;
        if self.has_log {
            log::write(&arguments.thought);
        }
        response(answer)
    }
}

fn changed(thought: &Thought, history: &History) -> Changed<Thought, Answer> {
    let change = Change {
        is_complete: Some(!thought.next_thought_needed),
        text: thought.thought.clone(),
        ..Change::default()
    };
    Changed {
        entry: thought.clone(),
        change,
        result: Answer::new(thought, history),
    }
}

fn response(answer: Answer) -> Result<CallToolResponse, ToolFailure> {
    let text = answer.text().map_err(ToolFailure::message)?;
    let structured = serde_json::to_value(&answer).map_err(ToolFailure::message)?;

    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    // The original leaves it out.
    result.is_error = None;
    Ok(result.into())
}

fn title(thought: &Thought) -> String {
    let text = OneLine::new(&thought.thought).with_max_chars(TITLE);
    text.to_string()
}
