use serde::{Deserialize, Serialize};

/// A person's decision about a tool call.
///
/// Serialised as `true`, `false`, or the reason of a refusal as a text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Answer", into = "Answer")]
pub enum Approval {
    /// The call is made.
    Granted,
    /// The call isn't made. The model reads that a person refused it.
    Refused,
    /// The call isn't made. The model reads the reason.
    RefusedBecause(String),
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "true, false, or the reason of a refusal")]
enum Answer {
    Decision(bool),
    Reason(String),
}

impl From<Answer> for Approval {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Decision(true) => Self::Granted,
            Answer::Decision(false) => Self::Refused,
            Answer::Reason(reason) => Self::RefusedBecause(reason),
        }
    }
}

impl From<Approval> for Answer {
    fn from(approval: Approval) -> Self {
        match approval {
            Approval::Granted => Self::Decision(true),
            Approval::Refused => Self::Decision(false),
            Approval::RefusedBecause(reason) => Self::Reason(reason),
        }
    }
}

impl Approval {
    /// Returns the reason why the call isn't made, for the model.
    pub(crate) fn refusal(self) -> Option<String> {
        match self {
            Self::Granted => None,
            Self::Refused => Some("a person refused this call".to_owned()),
            Self::RefusedBecause(reason) => Some(format!("a person refused this call: {reason}")),
        }
    }
}
