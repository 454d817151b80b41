//! The work to do in a stage, its result, and where the run continues.

use std::fmt;
use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::conclusion;
use super::{Ask, Asked, Called, PlannedCall, StageReply};
use crate::{Stage, ThoughtDraft};

/// The work to do in a stage.
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
        /// A function that returns whether the answers so far are enough. If they are, the
        /// remaining questions are dropped. An unanswered question is `None`.
        enough: Option<Enough>,
    },
    /// Calls tools, concurrently unless one needs the output of another.
    Call(Vec<PlannedCall>),
}

/// Returns whether the answers to a [`StageWork::AskAll`] so far are enough.
pub(super) type Enough = Arc<dyn Fn(&[Option<Asked>]) -> bool + Send + Sync>;

impl StageWork {
    /// Creates work that adds a thought without a call.
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

    /// Returns whether the model is asked for the answer to the problem.
    pub(super) fn asks_for_answer(&self) -> bool {
        match self {
            Self::Ask(ask) => ask.requires(conclusion::ANSWER),
            Self::AskAll { asks, .. } => asks.iter().all(|ask| ask.requires(conclusion::ANSWER)),
            _ => false,
        }
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

/// The result of a [`StageWork`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Done {
    /// No call was made.
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
    /// Returns the default thought, which consists of the text and the parameters. For several
    /// questions, it is the first reply; for calls, it is the outputs.
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
    /// After a final stage, the run ends.
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

    /// Returns the reply to a single question as a value of the type that
    /// [asked](Ask::with_fields_of) for it.
    pub fn value<T: DeserializeOwned>(&self) -> Option<T> {
        self.reply()?.value()
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

/// Where a run continues after a stage.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Next {
    /// Continues with this stage.
    Stage(String),
    /// Ends the run after a final stage.
    End,
    /// Ends the run early for this reason. The result is the best answer so far.
    GiveUp(String),
}

impl Next {
    /// Continues with a stage.
    pub fn stage(name: impl Into<String>) -> Self {
        Self::Stage(name.into())
    }
}
