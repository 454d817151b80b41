use std::time::Duration;

use cogwork_plan::{Change, Plan};
use cogwork_typed::ask::{Format, Spent};
use serde::{Serialize, Serializer};

use crate::{ChainOfThought, Limit, Reasoning};

/// The source of these events, in the events of a run.
pub(crate) const SOURCE: &str = "reasoning";

/// An event of a reasoning, for programs that show it, such as a web page.
///
/// A [`ReasoningStream`](crate::ReasoningStream) returns these events, and a
/// [`Reporter`](crate::Reporter) receives them. Inside a larger flow, they are the
/// [reports](cogwork_flow::EventKind::Reported) with the source `reasoning` in the events of the run;
/// only `retrying`, `lost` and `ended` are events of the run itself there, which a reporter doesn't
/// receive. Only a reporter receives `working`, `reply_piece` and `stopped`.
///
/// An event is serialised as one object with a `type`:
///
/// ```json
/// {"type": "started", "problem": "What is 6 times 7?"}
/// {"type": "thinking", "thought": 1, "text": "I mult", "is_start": true}
/// {"type": "thinking", "thought": 1, "text": "iply.", "is_start": false}
/// {"type": "tool_call", "thought": 1, "name": "calculate", "input": "{\"expression\": \"6 * 7\"}"}
/// {"type": "tool_result", "thought": 1, "name": "calculate", "output": "42", "failed": false}
/// {"type": "thought", "thought": 1, "text": "I multiply.", "plan": [{"description": "Multiply", "status": "Done", "result": "42"}], "next_thought_needed": true}
/// {"type": "plan_changed", "thought": 2, "changes": [{"path": "1", "description": "Multiply", "change": "status_changed", "from": "Pending", "to": "Done"}]}
/// {"type": "usage", "thought": 1, "spent": {…}, "total": {…}}
/// {"type": "ended", "reason": "answered", "answer": "42", "solution": "6 * 7 = 42."}
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
        /// Whether another thought is needed.
        next_thought_needed: bool,
    },
    /// The plan of a thought differs from the one before. Follows the thought.
    PlanChanged {
        /// The number of the thought.
        thought: u32,
        /// The steps that were added, removed or changed.
        changes: Vec<Change>,
    },
    /// What a thought cost. Follows the thought.
    Usage {
        /// The number of the thought.
        thought: u32,
        /// The cost of the thought, including replies that could not be used.
        spent: Spent,
        /// The cost of all thoughts so far.
        total: Spent,
    },
    /// A step failed and is retried after a delay, because the program set this up for the flow.
    Retrying {
        /// The number of attempts so far.
        attempts: u32,
        /// The time until the next attempt; in JSON, in seconds.
        #[serde(serialize_with = "seconds")]
        delay: Duration,
        /// The error, in one line.
        error: String,
    },
    /// Events were lost, because too many were emitted at once.
    Lost {
        /// The number of lost events.
        count: u64,
    },
    /// The run ended. This is the last event.
    Ended {
        /// Why it ended.
        reason: StreamEnd,
        /// The answer, in a few words if the last step of the plan has a result.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// The text of the last thought.
        #[serde(skip_serializing_if = "Option::is_none")]
        solution: Option<String>,
        /// The error, in one line, if there is no answer.
        #[serde(skip_serializing_if = "Option::is_none")]
        error: Option<String>,
    },
}

/// Why the run of a [`ReasoningStream`](crate::ReasoningStream) ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StreamEnd {
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

impl ChainOfThought {
    /// Emits the events of the last thought: the thought, the changes of the plan, and the cost.
    pub(crate) fn emit_thought(&self, reasoning: &Reasoning) {
        let Some(last) = reasoning.thoughts().last().filter(|_| self.is_watched()) else {
            return;
        };
        let thought = last.thought_number();

        self.emit(|| ReasoningEvent::Thought {
            thought,
            text: last.current_thinking().to_owned(),
            plan: last.planning().clone(),
            next_thought_needed: last.next_thought_needed(),
        });

        let changes = reasoning
            .previous_plan()
            .map(|previous| last.planning().changes_since(previous));
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            self.emit(|| ReasoningEvent::PlanChanged { thought, changes });
        }

        self.emit(|| ReasoningEvent::Usage {
            thought,
            spent: last.trace().spent,
            total: reasoning.spent(),
        });
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
