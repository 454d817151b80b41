//! What is to be done in a stage, what was done, and where to go next.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Ask, Asked, Called, PlannedCall, StageReply};
use crate::{Stage, ThoughtDraft};

/// What is to be done in a stage.
#[derive(Clone)]
#[non_exhaustive]
pub enum StageWork {
    /// Adds a thought without a call.
    Say {
        /// The text of the thought.
        text: String,
        /// The parameters of the thought.
        parameters: Vec<(String, Value)>,
    },
    /// Asks the model. The question and the reply are added to the
    /// [transcript](super::Solving::transcript).
    Ask(Ask),
    /// Asks the model several questions concurrently. The transcript doesn't change.
    AskAll {
        /// The questions.
        asks: Vec<Ask>,
        /// Whether the answers so far are enough, in which case the remaining questions are
        /// dropped. Questions that aren't answered yet are `None`.
        enough: Option<Enough>,
    },
    /// Calls tools, concurrently unless one needs the output of another.
    Call(Vec<PlannedCall>),
}

/// Returns whether the answers to a [`StageWork::AskAll`] so far are enough.
pub(super) type Enough = Arc<dyn Fn(&[Option<Asked>]) -> bool + Send + Sync>;

impl StageWork {
    /// Creates a thought that needs no call.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say {
            text: text.into(),
            parameters: Vec::new(),
        }
    }

    /// Sets a parameter of a [`Say`](Self::Say). Other kinds of work aren't changed.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        if let Self::Say { parameters, .. } = &mut self {
            parameters.push((name.into(), value.into()));
        }
        self
    }

    pub(super) fn calls_model(&self) -> bool {
        matches!(self, Self::Ask(_) | Self::AskAll { .. })
    }
}

impl fmt::Debug for StageWork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Say { text, parameters } => {
                f.debug_tuple("Say").field(text).field(parameters).finish()
            }
            Self::Ask(ask) => f.debug_tuple("Ask").field(ask).finish(),
            Self::AskAll { asks, .. } => f.debug_tuple("AskAll").field(asks).finish(),
            Self::Call(calls) => f.debug_tuple("Call").field(calls).finish(),
        }
    }
}

/// What was done for a [`StageWork`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Done {
    /// Nothing was called.
    Said {
        /// The text.
        text: String,
        /// The parameters.
        parameters: Vec<(String, Value)>,
    },
    /// The model replied.
    Replied(StageReply),
    /// The result of each question, in order. At least one has a reply.
    AllAsked(Vec<Asked>),
    /// The result of each call, in order.
    Called(Vec<Called>),
}

impl Done {
    /// Returns the default thought: the text and the parameters. Of several questions, it is the
    /// first reply; of calls, the outputs.
    pub fn draft_at(&self, stage: &Stage) -> ThoughtDraft {
        match self {
            Self::Said { text, parameters } => {
                let draft = ThoughtDraft::at(stage.name(), text.as_str());
                parameters.iter().fold(draft, |draft, (name, value)| {
                    draft.with(name.as_str(), value.clone())
                })
            }
            Self::Replied(reply) => drafted(stage, reply),
            Self::AllAsked(asked) => match asked.iter().find_map(|asked| asked.reply.as_ref().ok())
            {
                Some(reply) => drafted(stage, reply),
                None => ThoughtDraft::at(stage.name(), ""),
            },
            Self::Called(calls) => {
                let outputs: Vec<_> = calls.iter().map(|called| called.output.as_str()).collect();
                ThoughtDraft::at(stage.name(), outputs.join("\n"))
            }
        }
    }

    /// Returns the default next stage: the one that the model chose, or the first that may follow.
    /// After a final stage, it is the end.
    pub fn next_of(&self, stage: &Stage) -> Next {
        let chosen = match self {
            Self::Replied(reply) => reply.next.clone(),
            _ => None,
        };
        match chosen.or_else(|| stage.next_names().first().cloned()) {
            Some(next) => Next::Stage(next),
            None => Next::End,
        }
    }

    /// Returns the reply to a single question.
    pub fn reply(&self) -> Option<&StageReply> {
        match self {
            Self::Replied(reply) => Some(reply),
            _ => None,
        }
    }
}

fn drafted(stage: &Stage, reply: &StageReply) -> ThoughtDraft {
    let draft = ThoughtDraft::at(stage.name(), reply.text.as_str());
    reply.fields.iter().fold(draft, |draft, (name, value)| {
        draft.with(name.as_str(), value.clone())
    })
}

/// Where a driver goes from a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// To this stage.
    Stage(String),
    /// To the end, from a final stage.
    End,
    /// To the end, for this reason. The best answer so far is the result.
    GiveUp(String),
}

impl Next {
    /// Goes to a stage.
    pub fn stage(name: impl Into<String>) -> Self {
        Self::Stage(name.into())
    }
}
