//! The tool `sequentialthinking`, which accepts and answers what the server of that name does.
//!
//! Schemas and results are those of version 2026.8.31 of the package
//! `@modelcontextprotocol/server-sequential-thinking`. `scripts/check-mcp` compares both.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use cogwork_text::OneLine;
use cogwork_tools::schemars::{self, JsonSchema};
use rmcp::model::{CallToolResult, ContentBlock};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::ServerLimits;
use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::markdown::{Shown, Step};
use crate::store::{Changed, NewSession, Recorded, SessionId, SessionKind, SessionStore, Stored};
use crate::tool::{Caller, ServerTool, definition, schema_of, set_keyword};

pub(crate) const NAME: &str = "sequentialthinking";

const DESCRIPTION: &str = "\
Records one step of your reasoning and returns the counts. For problems of several steps, whose extent isn't clear or \
in which earlier steps may turn out to be wrong. Call it once per step, numbered from 1; `totalThoughts` is an \
estimate that may change. To correct a step, set `isRevision` and `revisesThought`; to try an alternative, set \
`branchFromThought` and `branchId`. Check the answer before the last step.";

/// The version of JSON Schema that the original names.
const SCHEMA: &str = "http://json-schema.org/draft-07/schema#";

/// The maximum number of characters of the title of a session.
const TITLE: usize = 80;

/// The greatest number that JavaScript represents with all its neighbours.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// A thought, as it is recorded and as it is sent.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Thought {
    /// What this step says
    thought: String,
    next_thought_needed: bool,
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    thought_number: u64,
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    total_thoughts: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    is_revision: Option<bool>,
    /// The thought that this one corrects
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    revises_thought: Option<u64>,
    /// The thought at which the branch starts
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = MAX_INTEGER))]
    branch_from_thought: Option<u64>,
    /// A name for the branch
    #[serde(default, skip_serializing_if = "Option::is_none")]
    branch_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    needs_more_thoughts: Option<bool>,
}

/// The arguments of a call.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Call {
    #[serde(flatten)]
    thought: Thought,
    /// A session to continue or to start; by default, that of this conversation
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

/// Returns the tool.
pub(crate) fn tool(store: SessionStore) -> ServerTool {
    let mut tool = definition::<Call>(NAME, "Sequential Thinking", DESCRIPTION);
    // Some hosts send them as texts.
    for name in ["nextThoughtNeeded", "isRevision", "needsMoreThoughts"] {
        set_keyword(&mut tool, name, "type", json!(["boolean", "string"]));
    }
    let mut output = schema_of::<Answer>();
    for schema in [Arc::make_mut(&mut tool.input_schema), &mut output] {
        // As in the original, whose schemas clients may compare.
        schema.insert("$schema".to_owned(), SCHEMA.into());
    }
    let tool = tool.with_raw_output_schema(Arc::new(output));

    // The original ignores other arguments.
    let arguments = Arguments::<Call>::new(&tool.input_schema, store.limits.argument_bytes);
    let arguments = arguments.ignoring_others();
    ServerTool::new(tool, move |given, caller| {
        let called = arguments.read(&given);
        let recorded = called.map(|call| record(store.clone(), call, caller));
        async move { response(&recorded?.await?) }
    })
}

async fn record(store: SessionStore, call: Call, caller: Caller) -> Result<Answer, Failure> {
    let Call {
        mut thought,
        session_id,
    } = call;
    // The original raises the estimate as well.
    thought.total_thoughts = thought.total_thoughts.max(thought.thought_number);

    let title = OneLine::new(&thought.thought).with_max_chars(TITLE);
    let new = NewSession {
        is_named: session_id.is_some(),
        title: title.to_string(),
        strategy: String::new(),
    };
    // Calls without an id are independent of those with one, as if there were no ids.
    let unnamed = || caller.connection.current_or_new(SessionKind::Sequential);
    let id = session_id.unwrap_or_else(unnamed);

    let limits = store.limits;
    let change = move |history: &mut History| {
        history.add(&thought, limits.thoughts);
        Ok(changed(thought, history, &limits))
    };
    let owner = &caller.connection.owner;
    store.change(owner, &id, Some(new), change).await
}

fn changed(thought: Thought, history: &History, limits: &ServerLimits) -> Changed<Thought, Answer> {
    let answer = Answer {
        thought_number: thought.thought_number,
        total_thoughts: thought.total_thoughts,
        next_thought_needed: thought.next_thought_needed,
        branches: history.branches(limits.branches),
        thought_history_length: history.total,
    };
    let is_complete = !thought.next_thought_needed;
    Changed {
        keep: Some(limits.thoughts),
        ..Changed::new(thought, answer, is_complete)
    }
}

/// Returns the answer as text and as data. Some hosts of the original read one, some the other.
fn response(answer: &Answer) -> Result<CallToolResult, Failure> {
    let text = serde_json::to_string_pretty(answer).map_err(Failure::new)?;
    let structured = serde_json::to_value(answer).map_err(Failure::new)?;

    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    result.structured_content = Some(structured);
    // The original leaves it out.
    result.is_error = None;
    Ok(result)
}

impl Thought {
    /// Returns the branch that the thought belongs to, and the number of the thought at which the
    /// branch starts. A branch needs both.
    fn branch(&self) -> Option<(&str, u64)> {
        // The original takes an empty id for none.
        let id = self.branch_id.as_deref().filter(|id| !id.is_empty());
        id.zip(self.branch_from_thought)
    }
}

/// The branches of the thoughts of a session.
///
/// If there are too many, the oldest ones are dropped. They remain counted.
#[derive(Default)]
struct History {
    /// The number of thoughts, including those that were dropped.
    total: u64,
    kept: Vec<Option<String>>,
}

impl Recorded for History {
    const KIND: SessionKind = SessionKind::Sequential;

    type Entry = Thought;

    fn skip(&mut self, dropped: u64) {
        self.total = dropped;
    }

    fn replay(&mut self, thought: Thought) -> Result<(), Failure> {
        // The store has dropped what was too old.
        self.add(&thought, usize::MAX);
        Ok(())
    }
}

impl History {
    fn add(&mut self, thought: &Thought, most: usize) {
        let branch = thought.branch().map(|(id, _)| id.to_owned());
        self.total = self.total.saturating_add(1);
        self.kept.push(branch);

        let excess = self.kept.len().saturating_sub(most);
        self.kept.drain(..excess);
    }

    /// Returns the names of the branches, from the first to the last that was begun. If there are too
    /// many, the first ones are left out.
    fn branches(&self, most: usize) -> Vec<String> {
        let mut known = HashSet::new();
        let branches = self.kept.iter().flatten();
        let branches: Vec<_> = branches.filter(|branch| known.insert(*branch)).collect();

        let excess = branches.len().saturating_sub(most);
        branches.into_iter().skip(excess).cloned().collect()
    }
}

/// Returns what a resource shows of a session: the thoughts with the numbers in which they were
/// added, because several thoughts can have the same number of the model.
pub(crate) fn shown(stored: &Stored) -> Result<Shown, Failure> {
    // The last thoughts with a number of the model, and on a branch or on none.
    let mut numbered = HashMap::new();
    let mut tips = HashMap::new();

    let thoughts: Vec<Thought> = stored.entries()?;
    let numbers = stored.dropped().saturating_add(1)..;
    let steps = thoughts.into_iter().zip(numbers).map(|(thought, number)| {
        let branch = thought.branch().map(|(id, _)| id.to_owned());
        // The first one of a branch follows its origin.
        let origin = thought.branch().map(|(_, origin)| origin);
        let origin = origin.and_then(|origin| numbered.get(&origin));
        // Models number thoughts as they like, so the order of the calls decides.
        let parent = tips.get(&branch).or(origin).copied();
        let revised = thought.revises_thought;
        let revised = revised.and_then(|revised| numbered.get(&revised)).copied();

        tips.insert(branch.clone(), number);
        numbered.insert(thought.thought_number, number);
        Step {
            number,
            stage: format!(
                "thought {} of {}",
                thought.thought_number, thought.total_thoughts
            ),
            branch,
            parents: parent.into_iter().collect(),
            revises: revised,
            text: thought.thought,
            ..Step::default()
        }
    });

    let shown = Shown::of(&stored.header);
    Ok(shown.with_steps(steps.collect(), stored.dropped()))
}
