use cogwork_flow::RunError;
use cogwork_flow::watch::{EventKind, RunItem};
use cogwork_plan::{Change, Plan};
use cogwork_typed::ask::{Format, Repair, Spent};
use serde::Serialize;

use crate::{CotError, CutShort, Reasoning, Thought};
use cogwork_typed::ask::Limit;

/// The source of these events, in the events of a run.
pub(crate) const SOURCE: &str = "reasoning";

/// An event of a reasoning, for programs that show it, such as a web page.
///
/// [`of`](Self::of) finds them in a [stream](cogwork_flow::Flow::stream) of the loop's flow, and a
/// [`Reporter`](crate::Reporter) receives them. Inside a larger flow, they are the
/// [reports](EventKind::Reported) with the source `reasoning` in the events of the run;
/// only `retrying`, `lost` and `ended` are events of the run itself there. A reporter doesn't receive
/// `retrying` and `lost`, and only a reporter receives `working`, `reply_piece` and `stopped`.
///
/// ```
/// use std::sync::Arc;
///
/// use cogwork_cot::{ChainOfThought, Reasoning, ReasoningEvent};
/// use cogwork_flow::watch::RunItem;
/// use cogwork_llm::ScriptedClient;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let reply = "current_thinking: 2 + 2 = 4.\nplanning:\n- {description: Conclusion, status: Done, result: 4}\nnext_thought_needed: false";
/// let client = ScriptedClient::new([reply]);
/// let flow = Arc::new(ChainOfThought::new(client).into_flow());
/// let mut stream = flow.stream(Reasoning::new("What is 2 + 2?"), |run| run);
/// let mut text = String::new();
///
/// while let Some(item) = stream.next().await {
///     let Some(event) = ReasoningEvent::of(&item) else { continue };
///     println!("data: {}\n", serde_json::to_string(&event)?);
///
///     if let ReasoningEvent::Thinking { text: piece, is_start, .. } = event {
///         if is_start {
///             text.clear();
///         }
///         text += &piece;
///     }
///     if let RunItem::Finished(finished) = item {
///         assert_eq!(finished.state.solution(), Some(text.as_str()));
///     }
/// }
/// # Ok(())
/// # }
/// ```
///
/// An event is serialised as one object with a `type`:
///
/// ```json
/// {"type": "started", "problem": "What is 6 times 7?"}
/// {"type": "thinking", "thought": 1, "text": "I mult", "is_start": true}
/// {"type": "thinking", "thought": 1, "text": "iply.", "is_start": false}
/// {"type": "tool_call", "thought": 1, "name": "calculate", "input": "{\"expression\": \"6 * 7\"}"}
/// {"type": "tool_result", "thought": 1, "name": "calculate", "output": "42", "failed": false}
/// {"type": "thought", "thought": 1, "text": "I multiply.", "plan": [{"description": "Multiply", "status": "Done", "result": "42"}], "next_thought_needed": true, "spent": {…}, "total": {…}}
/// {"type": "thought", "thought": 2, "text": "6 * 7 = 42.", …, "changes": [{"path": "2", "description": "Conclusion", "change": "status_changed", "from": "Pending", "to": "Done"}], …}
/// {"type": "ended", "reason": "answered", "answer": "42", "solution": "6 * 7 = 42.", "concluded": true, "thoughts": 2, "total": {…}}
/// ```
///
/// Later versions may add types and fields; readers should ignore those that they don't know. The
/// texts come from a model and may contain anything: escape them before showing them in a page.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningEvent {
    /// The first turn begins.
    Started {
        /// The problem.
        problem: String,
    },
    /// The model starts to work on a thought.
    Working {
        /// The number of the thought.
        thought: u32,
    },
    /// The model stopped, because of a thought or an error, or because the run was dropped.
    Stopped {
        /// The number of the thought.
        thought: u32,
    },
    /// A streamed reply grows. The pieces since the last [`AskingAgain`](Self::AskingAgain) or
    /// [`ToolResult`](Self::ToolResult) are the raw text of the reply. In the events of the run,
    /// they are notes.
    ReplyPiece {
        /// The number of the thought.
        thought: u32,
        /// The next piece of the reply.
        text: String,
    },
    /// The text of a thought grows. The pieces since the last start are the text so far, and once
    /// the reply was read, they are the text of the thought. A reply that isn't streamed is one
    /// piece.
    Thinking {
        /// The number of the thought.
        thought: u32,
        /// The next piece of the text.
        text: String,
        /// Whether the text begins with this piece, which replaces all earlier ones of this
        /// thought, for example those of a reply that could not be used.
        is_start: bool,
    },
    /// A reply could not be used, and the model is asked again.
    AskingAgain {
        /// The number of the thought.
        thought: u32,
        /// What is wrong with the reply, in one line.
        problem: String,
    },
    /// The server refused the form of the reply, and another one is requested.
    FormatRefused {
        /// The number of the thought.
        thought: u32,
        /// The form that was refused.
        refused: Format,
        /// The form that is requested next.
        next: Format,
        /// The error, in one line.
        error: String,
    },
    /// The model is asked to conclude, because a limit is nearly reached.
    Concluding {
        /// The number of the thought.
        thought: u32,
        /// The limit.
        limit: Limit,
    },
    /// A tool is called. The calls of a reply are made concurrently.
    ToolCall {
        /// The number of the thought.
        thought: u32,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The input, as the model wrote it; usually a JSON object.
        input: String,
    },
    /// A tool returned or failed, or the call wasn't made.
    ToolResult {
        /// The number of the thought.
        thought: u32,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The input, as the model wrote it. In JSON, only the call has it.
        #[serde(skip)]
        input: String,
        /// The output, or a description of the failure.
        output: String,
        /// Whether the call failed or wasn't made.
        failed: bool,
    },
    /// A thought was added.
    Thought {
        /// The number of the thought.
        thought: u32,
        /// The text of the thought.
        text: String,
        /// The plan after it.
        plan: Plan,
        /// The steps that were added, removed or changed since the thought before.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        changes: Vec<Change>,
        /// Whether another thought is needed.
        next_thought_needed: bool,
        /// The repairs of the reply.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        repairs: Vec<Repair>,
        /// Whether the thought ends the reasoning while steps of its plan are not done.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        ended_early: bool,
        /// The cost of the thought, including replies that could not be used.
        spent: Spent,
        /// The cost of all thoughts so far.
        total: Spent,
    },
    /// The reasoning ended. This is the last event.
    Ended {
        /// Why it ended.
        reason: ReasoningEnd,
        /// The answer, in a few words if the last step of the plan has a result.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// The text of the last thought.
        #[serde(skip_serializing_if = "Option::is_none")]
        solution: Option<String>,
        /// Whether the last step of the plan has a result.
        concluded: bool,
        /// How a limit ended the reasoning, if one did.
        #[serde(skip)]
        cut_short: Option<CutShort>,
        /// The number of thoughts.
        thoughts: usize,
        /// What they cost.
        total: Spent,
        /// The error, in one line, if there isn't an answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// Why a reasoning [ended](ReasoningEvent::Ended).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ReasoningEnd {
    /// There is an answer.
    Answered,
    /// A limit was reached: a limit of the node, the deadline, or the number of steps. If there is
    /// an answer, it is the best one so far.
    Limit,
    /// The run was cancelled.
    Cancelled,
    /// A turn failed.
    Failed,
}

impl ReasoningEvent {
    /// Returns the event in an item of a [stream](cogwork_flow::Flow::stream), if it is one of the
    /// reasoning.
    pub fn of(item: &RunItem<Reasoning>) -> Option<Self> {
        match item {
            RunItem::Event(event) => match &event.kind {
                // Events of clients and tools are reported, too, and are not of this type.
                EventKind::Reported { report } => report.downcast_ref().cloned(),
                _ => None,
            },
            RunItem::Finished(finished) => {
                let error = finished.result.as_ref().err();
                Some(Self::ended(&finished.state, error))
            }
        }
    }

    /// Returns the event of a thought that is added to those before it.
    pub(crate) fn thought(thought: &Thought, before: &Reasoning) -> Self {
        let plan = &thought.planning;
        let changes = before.plan().map(|before| plan.changes_since(before));
        let trace = &thought.trace;
        let mut total = before.spent();
        total += trace.spent;

        Self::Thought {
            thought: thought.thought_number,
            text: thought.current_thinking.clone(),
            plan: plan.clone(),
            changes: changes.unwrap_or_default(),
            next_thought_needed: thought.next_thought_needed,
            repairs: trace.repairs.clone(),
            ended_early: trace.ended_early,
            spent: trace.spent,
            total,
        }
    }

    /// Returns the event of the end of a run.
    pub(crate) fn ended(reasoning: &Reasoning, error: Option<&RunError>) -> Self {
        Self::Ended {
            reason: match error {
                Some(error) => reason(error),
                None if reasoning.is_complete() => ReasoningEnd::Answered,
                None => ReasoningEnd::Limit,
            },
            answer: reasoning.answer().map(str::to_owned),
            solution: reasoning.solution().map(str::to_owned),
            concluded: reasoning.conclusion().is_some(),
            cut_short: reasoning.cut_short().cloned(),
            thoughts: reasoning.thoughts().len(),
            total: reasoning.spent(),
            error: error.map(RunError::to_string),
        }
    }
}

fn reason(error: &RunError) -> ReasoningEnd {
    let limit = error.downcast_ref().and_then(CotError::limit);

    if error.is_cancelled() {
        ReasoningEnd::Cancelled
    } else if limit.is_some() || error.is_deadline() || error.is_step_limit() {
        ReasoningEnd::Limit
    } else {
        ReasoningEnd::Failed
    }
}
