use serde::{Deserialize, Serialize};

use crate::StepName;

/// What a [channel](crate::Channel) delivers to a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChannelMessage {
    /// A message.
    Sent {
        /// The message as a JSON text.
        body: Vec<u8>,
        /// The step that sent it, if its run has a journal. A message that is sent again has the
        /// same origin.
        from: Option<Origin>,
    },
    /// All senders are gone.
    Closed,
}

/// The step that sent a message.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Origin {
    /// The id of the run.
    pub run: String,
    /// The name of the step.
    pub step: String,
    /// The number of the step; for a step inside an item or a branch, that of the outermost step
    /// around it.
    pub number: u64,
}

impl Origin {
    pub(crate) fn of(run: &str, step: &StepName) -> Self {
        Self {
            run: run.to_owned(),
            step: step.to_string(),
            number: step.outermost_number(),
        }
    }
}
