use cogwork_text::OneLine;
use cogwork_typed::ask::{AskLog, Limit};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StageReply;
use super::question::Question;

/// A call of a run, with its outcome.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Call {
    /// A question to the model.
    Model(Asked),
    /// A call of a tool.
    Tool(Called),
}

/// A question to the model, and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// The stage of the question.
    pub stage: String,
    /// The [name](super::Ask::with_name) of the question. It is empty unless several questions were
    /// asked at the same time.
    pub name: String,
    /// What distinguishes the question from others: the stage, the name, and a hash of its text.
    pub label: String,
    /// What happened on the way to the reply: the model's raw replies, each with the reason it
    /// couldn't be used, and the formats.
    #[serde(flatten)]
    pub log: AskLog,
    /// How many more calls fit into the limits then, at the pace so far. See
    /// [`Solve::calls_left`](super::Solve::calls_left).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub calls_left: Option<u32>,
    /// The usable reply, or the reason there isn't one.
    pub reply: Result<StageReply, AskProblem>,
}

impl Asked {
    pub(super) fn new(
        stage: &str,
        question: &Question,
        log: AskLog,
        reply: Result<StageReply, AskProblem>,
    ) -> Self {
        Self {
            stage: stage.to_owned(),
            name: question.name.clone(),
            label: question.label(stage),
            log,
            calls_left: None,
            reply,
        }
    }
}

impl Call {
    pub(super) fn label(&self) -> &str {
        match self {
            Self::Model(asked) => &asked.label,
            Self::Tool(called) => &called.label,
        }
    }

    /// Returns whether the call has no outcome that a method can use.
    pub(super) fn has_failed(&self) -> bool {
        match self {
            Self::Model(asked) => matches!(
                asked.reply,
                Err(AskProblem::Client(_) | AskProblem::Unreadable(_))
            ),
            Self::Tool(_) => false,
        }
    }

    /// Returns the last reply of the model.
    pub(super) fn last_reply(&self) -> Option<&str> {
        match self {
            Self::Model(asked) => Some(asked.log.tries.last()?.reply.as_str()),
            Self::Tool(_) => None,
        }
    }
}

/// The reason why an [`Ask`](super::Ask) has no usable reply.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskProblem {
    /// The client failed.
    #[error("{}", OneLine::new(.0))]
    Client(String),
    /// No reply could be used.
    #[error("no reply could be used: {}", OneLine::new(.0))]
    Unreadable(String),
    /// The budget was spent before the question was answered.
    #[error("the budget of {0} is spent")]
    OutOf(Limit),
    /// The reply was no longer needed.
    #[error("not needed any more")]
    NotNeeded,
}

cogwork_text::debug_as_display!(AskProblem);

/// The result of a [`PlannedCall`](super::PlannedCall).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Called {
    /// The stage of the call.
    pub stage: String,
    /// The id of the call.
    pub id: String,
    /// What distinguishes the call from others: the stage, the id, and a hash of its input.
    pub label: String,
    /// The name of the tool.
    pub tool: String,
    /// The input.
    pub input: Value,
    /// The output, or a description of the failure for the model.
    pub output: String,
    /// Whether the call failed.
    pub failed: bool,
}
