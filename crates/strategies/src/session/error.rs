use cogwork_text::OneLine;
use serde::{Deserialize, Serialize};

use super::RefusedMove;

/// An operation that a session refused. The session hasn't changed.
///
/// It serialises with a `kind` and its fields.
#[derive(Clone, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionError {
    /// The strategy doesn't allow the move, or the parameters are wrong.
    #[error(transparent)]
    Refused(#[from] Box<RefusedMove>),
    /// A thought or a branch that the operation names doesn't exist, or doesn't allow it.
    #[error("{}", OneLine::new(message))]
    Impossible {
        /// What is wrong, and what is expected instead.
        message: String,
    },
    /// A limit is reached.
    #[error("the limit of {limit} is reached")]
    Full {
        /// The limit, such as `1000 branches`.
        limit: String,
    },
}

impl SessionError {
    pub(super) fn impossible(message: impl Into<String>) -> Self {
        Self::Impossible {
            message: message.into(),
        }
    }
}

cogwork_text::debug_as_display!(SessionError);
