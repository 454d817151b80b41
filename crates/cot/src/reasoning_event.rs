use std::time::Duration;

use cogwork_flow::{is_watched, report_from};
use cogwork_llm::ToolCall;
use cogwork_plan::{Change, Plan};
use cogwork_typed::Growth;
use cogwork_typed::ask::Spent;
use serde::{Serialize, Serializer};

use crate::{Reasoning, ReplyProblem, ToolCallRecord};

/// The source of these events, in the events of a run.
pub(crate) const SOURCE: &str = "reasoning";

/// An event of a reasoning, for programs that show it, such as a web page.
///
/// A [`ReasoningStream`](crate::ReasoningStream) returns these events. Inside a larger flow, they
/// are the [reports](cogwork_flow::EventKind::Reported) with the source `reasoning` in the events of the
/// run; only `retrying`,
/// `lost` and `ended` are events of the run itself there.
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
/// {"type": "ended", "reason": "answered", "answer": "6 * 7 = 42.", "conclusion": "42"}
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
    /// The text of a thought grows. The pieces since the last start are the text so far.
    Thinking {
        /// The number of the thought.
        thought: u32,
        /// The next piece of the text.
        text: String,
        /// Whether the text begins with this piece, which replaces all earlier ones of this
        /// thought.
        is_start: bool,
    },
    /// A reply could not be used, and the model is asked again.
    AskingAgain {
        /// The number of the thought.
        thought: u32,
        /// What is wrong with the reply, in one line.
        problem: String,
    },
    /// A tool is called.
    ToolCall {
        /// The number of the thought.
        thought: u32,
        /// The name of the tool, as the model wrote it.
        name: String,
        /// The input, as the model wrote it; usually a JSON object.
        input: String,
    },
    /// A tool returned or failed.
    ToolResult {
        /// The number of the thought.
        thought: u32,
        /// The name of the tool, as the model wrote it.
        name: String,
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
        /// The answer: the text of the last thought.
        #[serde(skip_serializing_if = "Option::is_none")]
        answer: Option<String>,
        /// The answer in a few words.
        #[serde(skip_serializing_if = "Option::is_none")]
        conclusion: Option<String>,
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

impl ReasoningEvent {
    pub(crate) fn started(reasoning: &Reasoning) -> Self {
        Self::Started {
            problem: reasoning.problem().to_owned(),
        }
    }

    pub(crate) fn thinking(thought: u32, growth: Growth<'_>) -> Self {
        Self::Thinking {
            thought,
            text: growth.added().to_owned(),
            is_start: growth.is_start(),
        }
    }

    pub(crate) fn asking_again(thought: u32, problem: &ReplyProblem) -> Self {
        Self::AskingAgain {
            thought,
            problem: problem.to_string(),
        }
    }

    pub(crate) fn tool_call(thought: u32, call: &ToolCall) -> Self {
        Self::ToolCall {
            thought,
            name: call.name().to_owned(),
            input: call.arguments().to_owned(),
        }
    }

    pub(crate) fn tool_result(thought: u32, used: &ToolCallRecord) -> Self {
        Self::ToolResult {
            thought,
            name: used.name.clone(),
            output: used.output.clone(),
            failed: used.failed,
        }
    }

    /// Reports the last thought: the thought, the changes of the plan, and the cost.
    pub(crate) fn report_thought(reasoning: &Reasoning) {
        if !is_watched() {
            return;
        }
        let Some(last) = reasoning.thoughts().last() else {
            return;
        };
        let thought = last.thought_number();

        report_from(SOURCE, || Self::Thought {
            thought,
            text: last.current_thinking().to_owned(),
            plan: last.planning().clone(),
            next_thought_needed: last.next_thought_needed(),
        });

        let changes = reasoning
            .previous_plan()
            .map(|previous| last.planning().changes_since(previous));
        if let Some(changes) = changes.filter(|changes| !changes.is_empty()) {
            report_from(SOURCE, || Self::PlanChanged { thought, changes });
        }

        report_from(SOURCE, || Self::Usage {
            thought,
            spent: last.trace().spent,
            total: reasoning.spent(),
        });
    }
}

fn seconds<S: Serializer>(time: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(time.as_secs_f64())
}
