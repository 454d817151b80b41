use std::sync::Arc;

use async_trait::async_trait;
use cogwork_text::OneLine;
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, JsonObject, Tool};
use serde::{Deserialize, Serialize};

use super::history::{History, Thought};
use crate::arguments;
use crate::connection::Connection;
use crate::store::{Changed, HeaderChange, NewSession, SessionId, SessionKind, SessionStore};
use crate::tool::{ServerTool, ToolCall, ToolFailure, schema_of, tool};

const DESCRIPTION: &str = include_str!("description.md");

/// The version of JSON Schema that the original names.
const SCHEMA: &str = "http://json-schema.org/draft-07/schema#";

/// The maximum number of characters of the title of a session.
const TITLE: usize = 80;

/// The tool `sequentialthinking`.
pub(crate) struct SequentialThinking {
    store: SessionStore,
    is_strict: bool,
}

/// The arguments of a call. The original ignores others.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Arguments {
    #[serde(flatten)]
    thought: Thought,
    /// A session to continue or to start: 1 to 128 letters, digits or any of -_.: (optional; by
    /// default, the one of this conversation)
    session_id: Option<SessionId>,
}

/// The result of a call. Its fields are in the order in which the text has them.
#[derive(Serialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Answer {
    #[schemars(with = "f64")]
    thought_number: u64,
    #[schemars(with = "f64")]
    total_thoughts: u64,
    next_thought_needed: bool,
    branches: Vec<String>,
    #[schemars(with = "f64")]
    thought_history_length: u64,
}

impl SequentialThinking {
    pub(crate) fn new(store: SessionStore, is_strict: bool) -> Self {
        Self { store, is_strict }
    }

    async fn record(
        &self,
        connection: &Connection,
        thought: &Thought,
        session: Option<SessionId>,
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
        let id = session.unwrap_or_else(unnamed);
        let change = |history: &mut History| {
            if self.is_strict {
                history.check(thought).map_err(ToolFailure::message)?;
            }
            history.record(thought);
            Ok(changed(thought, history))
        };
        self.store
            .change(connection.owner(), &id, Some(&new), change)
            .await
    }
}

#[async_trait]
impl ServerTool for SequentialThinking {
    fn definition(&self) -> Tool {
        let input = with_version(&schema_of::<Arguments>());
        let output = with_version(&schema_of::<Answer>());
        let tool = tool(
            "sequentialthinking",
            "Sequential Thinking",
            DESCRIPTION.trim(),
            input,
        );
        tool.with_raw_output_schema(Arc::new(output))
    }

    async fn call(&self, call: ToolCall<'_>) -> Result<CallToolResponse, ToolFailure> {
        let mut arguments = call.arguments;
        let max_bytes = self.store.limits().thought_bytes;
        let arguments: Arguments = arguments::take(&mut arguments, max_bytes)?;
        let mut thought = arguments.thought;
        thought.total_thoughts = thought.total_thoughts.max(thought.thought_number);

        let answer = self.record(call.connection, &thought, arguments.session_id);
        response(&answer.await?)
    }
}

fn with_version(schema: &JsonObject) -> JsonObject {
    let mut schema = schema.clone();
    schema.insert("$schema".to_owned(), SCHEMA.into());
    schema
}

fn changed(thought: &Thought, history: &History) -> Changed<Thought, Answer> {
    let branches = history.branches().into_iter().map(str::to_owned);
    Changed {
        entry: thought.clone(),
        change: HeaderChange {
            is_complete: Some(!thought.next_thought_needed),
            text: thought.thought.clone(),
            ..HeaderChange::default()
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
