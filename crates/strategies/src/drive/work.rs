//! What is done in a stage, before and after.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

use super::{Ask, Asked, Called, PlannedCall, StageReply};
use crate::{Stage, ThoughtDraft};

/// What is to be done in a stage.
#[derive(Clone)]
#[non_exhaustive]
pub enum StageWork {
    /// Nothing is called: the driver knows what the thought says.
    Say {
        /// Its text.
        text: String,
        /// Its parameters.
        parameters: Vec<(String, Value)>,
    },
    /// The model is asked. Question and reply become a part of the [transcript](super::Solving::transcript).
    Ask(Ask),
    /// The model is asked several questions, side by side. None of it becomes a part of the transcript.
    AskAll {
        /// The questions.
        asks: Vec<Ask>,
        /// Whether those that are answered are enough; the others are given up then. Those not answered yet
        /// are `None`.
        enough: Option<Enough>,
    },
    /// Tools are called, side by side as far as they do not need each other.
    Call(Vec<PlannedCall>),
}

/// Says of the questions of a [`StageWork::AskAll`] whether the answers so far are enough.
pub(super) type Enough = Arc<dyn Fn(&[Option<Asked>]) -> bool + Send + Sync>;

impl StageWork {
    /// A thought that needs no call.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say {
            text: text.into(),
            parameters: Vec::new(),
        }
    }

    /// The same with a parameter. Other kinds of work take none.
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

/// What was done, in the kind of the [`StageWork`].
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
    /// Of each question what came of it, in their order. At least one has a reply.
    AllAsked(Vec<Asked>),
    /// Of each call what came of it, in their order.
    Called(Vec<Called>),
}

impl Done {
    /// The thought that it is worth by itself: text and parameters. Of several questions the first with a
    /// reply, of calls what they gave.
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

    /// Where a stage leads by itself: to the end, to the stage that the model chose, or to the first of its
    /// edges.
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

    /// The reply, of work that is one question.
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
    /// Along the edge to this stage.
    Stage(String),
    /// The final stage is done.
    End,
    /// It sees no way to go on, for this reason. The best answer so far counts.
    GiveUp(String),
}

impl Next {
    /// Along the edge to this stage.
    pub fn stage(name: impl Into<String>) -> Self {
        Self::Stage(name.into())
    }
}
