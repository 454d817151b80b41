use std::fmt;
use std::sync::Arc;

use cogwork_text::Escaped;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer, ser};
use serde_json::value::RawValue;

use super::StateDigest;
use super::codec::{OutcomeProblem, encode};
use crate::engine::CallName;

/// A JSON text. Clones share it.
#[derive(Clone, PartialEq, Eq)]
pub struct Json(Arc<str>);

impl Json {
    /// Serialises a value, in one line.
    ///
    /// # Errors
    ///
    /// Returns an error if the value cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> Result<Self, OutcomeProblem> {
        encode(value, usize::MAX)
    }

    /// Creates a value from a text that was recorded as JSON. Whether it still is one is only
    /// checked when it is read or written, so that a record can be loaded without parsing all of it.
    pub fn from_record(text: &str) -> Self {
        Self(text.into())
    }

    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Deserialises the value.
    ///
    /// # Errors
    ///
    /// Returns an error if the value isn't a `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, OutcomeProblem> {
        self.read_or(OutcomeProblem::Unreadable)
    }

    /// Deserialises the value. `problem` makes the error of what serde says if that fails.
    pub(crate) fn read_or<T: DeserializeOwned>(
        &self,
        problem: impl FnOnce(String) -> OutcomeProblem,
    ) -> Result<T, OutcomeProblem> {
        serde_json::from_str(self.as_str()).map_err(|error| problem(error.to_string()))
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Checked here, because the text may come from a record that was edited.
        let value: &RawValue = serde_json::from_str(self.as_str()).map_err(ser::Error::custom)?;
        value.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = Box::<RawValue>::deserialize(deserializer)?;
        Ok(Self::from_record(value.get()))
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped::new(self.as_str()).fmt(f)
    }
}

/// An entry of a record. Its serialised form looks like
/// `{"outcome":{"step":"shop/charge#3","outcome":…}}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Entry {
    /// The run took its first step with a state that has this digest.
    Began {
        /// The digest of the state.
        state: StateDigest,
    },
    /// The outcome of a step.
    Outcome {
        /// The name of the step.
        step: String,
        /// The return value of its `exec`.
        outcome: Json,
    },
    /// A step sleeps.
    Sleep {
        /// The name of the step.
        step: String,
        /// The end of the sleep, in milliseconds since 1970.
        until: u64,
    },
    /// A step waits for an event.
    Waiting {
        /// The name of the step.
        step: String,
        /// The name of the event.
        event: String,
        /// The reason, for the person who answers; empty if there is none.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// When the wait times out, in milliseconds since 1970; `None` if it never does.
        until: Option<u64>,
        /// The JSON Schema of the answer, if the wait has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        schema: Option<Json>,
    },
    /// An event arrived. Its answer is kept until a step uses it.
    Answer {
        /// The name of the event.
        event: String,
        /// The answer.
        answer: Json,
    },
    /// A step used the oldest answer to its event.
    Taken {
        /// The name of the step.
        step: String,
        /// The name of the event.
        event: String,
    },
    /// A step could not read the oldest answer to its event. The answer is discarded.
    Refused {
        /// The name of the event.
        event: String,
        /// The reason, in one line.
        error: String,
    },
    /// A wait timed out.
    TimedOut {
        /// The name of the step.
        step: String,
    },
    /// The run paused: all that it does is to wait. A run that waits without this entry still does
    /// something else, such as in a different branch, or was interrupted.
    Paused,
    /// A snapshot of the run after a step. It replaces all earlier entries.
    Snapshot(Snapshot),
    /// The run stopped. It can be resumed.
    Failed {
        /// The error, in one line.
        error: String,
    },
    /// A run that had failed continues.
    Resumed,
    /// The run ended.
    Ended {
        /// The action on which it ended.
        action: String,
        /// The total number of steps.
        steps: u64,
    },
}

impl Entry {
    /// Returns whether a run is paused after this entry, given whether it was before. An answer doesn't
    /// execute it.
    pub fn leaves_paused(&self, was_paused: bool) -> bool {
        match self {
            Self::Paused => true,
            Self::Answer { .. } => was_paused,
            _ => false,
        }
    }

    /// Returns the beginning of the names of the calls that end with this entry: the calls of a
    /// [composite](crate::Node::is_composite) step that is complete, or of an attempt at it that
    /// failed. If any of them waits for an event, it no longer does.
    pub fn ended_calls(&self) -> Option<String> {
        let Self::Outcome { step, .. } = self else {
            return None;
        };

        // The last character keeps attempt 1 apart from attempt 10, and step 1 from step 10.
        Some(match step.strip_suffix(CallName::FAILURE) {
            Some(attempt) => format!("{attempt}/"),
            None => format!("{step}."),
        })
    }
}

/// A snapshot of a run between two steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Snapshot {
    /// The path of the next node: the names of the places of the subflows around it, then its own
    /// name.
    pub node: Vec<String>,
    /// The number of steps, not counting those inside items and branches.
    pub number: u64,
    /// The total number of steps.
    pub steps: u64,
    /// The state.
    pub state: Json,
}

/// An entry that cannot follow the entries before it in a record.
#[derive(Clone, PartialEq, Eq, thiserror::Error)]
#[error("entry {index}: {problem}")]
#[non_exhaustive]
pub struct EntryError {
    /// The index of the entry, starting at 0.
    pub index: usize,
    /// The reason.
    pub problem: String,
}

cogwork_text::debug_as_display!(EntryError);
