use async_trait::async_trait;
use cogwork_text::OneLine;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, Tool};
use serde::Serialize;

use super::arguments::{self, Arguments};
use super::definition::definition;
use super::history::History;
use super::history::Thought;
use crate::connection::Connection;
use crate::store::{Change, Changed, NewSession, RecordedSessions, SessionKind, SessionStore};
use crate::tool::{ServerTool, ToolCall, ToolFailure};

/// The maximum number of characters of the title of a session.
const TITLE: usize = 80;

/// The tool `sequentialthinking`.
pub(crate) struct SequentialThinking {
    sessions: RecordedSessions<History>,
    is_strict: bool,
}

/// The result of a call. Its fields are in the order in which the text has them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    thought_number: u64,
    total_thoughts: u64,
    next_thought_needed: bool,
    branches: Vec<String>,
    thought_history_length: u64,
}

impl SequentialThinking {
    pub(crate) fn new(store: SessionStore, is_strict: bool) -> Self {
        Self {
            sessions: RecordedSessions::new(store),
            is_strict,
        }
    }

    async fn record(
        &self,
        connection: &Connection,
        Arguments { thought, session }: &Arguments,
    ) -> Result<Answer, ToolFailure> {
        let title = OneLine::new(&thought.thought).with_max_chars(TITLE);
        let new = NewSession {
            id: session.clone(),
            kind: SessionKind::Sequential,
            title: title.to_string(),
            strategy: String::new(),
        };

        // Calls without an id are independent of those with one, as if there were no ids.
        let unnamed = || connection.current_or_new(SessionKind::Sequential);
        let id = session.clone().unwrap_or_else(unnamed);
        let change = |history: &mut History| {
            if self.is_strict {
                history.check(thought).map_err(ToolFailure::message)?;
            }
            history.record(thought);
            Ok(changed(thought, history))
        };
        self.sessions
            .change(connection.owner(), &id, Some(&new), change)
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
        response(&answer)
    }
}

fn changed(thought: &Thought, history: &History) -> Changed<Thought, Answer> {
    let branches = history.branches().into_iter().map(str::to_owned);
    Changed {
        entry: thought.clone(),
        change: Change {
            is_complete: Some(!thought.next_thought_needed),
            text: thought.thought.clone(),
            ..Change::default()
        },
        result: Answer {
            thought_number: thought.thought_number,
            total_thoughts: thought.total_thoughts,
            next_thought_needed: thought.next_thought_needed,
            branches: branches.collect(),
            thought_history_length: history.total(),
        },
    }
}

fn response(answer: &Answer) -> Result<CallToolResponse, ToolFailure> {
    let text = serde_json::to_string_pretty(answer).map_err(ToolFailure::message)?;
    let structured = serde_json::to_value(answer).map_err(ToolFailure::message)?;

    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    // The original leaves it out.
    result.is_error = None;
    Ok(result.into())
}
