use cogwork_ask::Try;
use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

use super::{EndReason, StageReply};

/// What came of an [`Ask`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Asked {
    /// The [name](Ask::with_name) of the question.
    pub name: String,
    /// The replies as the model wrote them, with the complaint about each that could not be used.
    pub tries: Vec<Try>,
    /// What the last of them says, or why there is none.
    pub reply: Result<StageReply, AskProblem>,
}

impl Asked {
    /// Returns which limit of the budget left the question unanswered, if one did.
    pub(super) fn out_of(&self) -> Option<&EndReason> {
        match &self.reply {
            Err(AskProblem::OutOf(reason)) => Some(reason),
            _ => None,
        }
    }
}

/// Why there is no reply to an [`Ask`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum AskProblem {
    /// The client failed.
    #[error("{}", OneLine::new(.0))]
    Client(String),
    /// No reply had what was asked for.
    #[error("no reply could be used: {}", OneLine::new(.0))]
    Unreadable(String),
    /// The budget was spent before it could be asked.
    #[error("{0}")]
    OutOf(EndReason),
    /// It was not needed any more.
    #[error("not needed any more")]
    NotNeeded,
}
