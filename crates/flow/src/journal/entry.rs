use std::fmt;

use cogwork_text::Escaped;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::codec::{OutcomeProblem, OutcomeProblemKind, decode, encode};

/// One JSON text, kept as it is written.
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Json(Box<RawValue>);

impl Json {
    /// A value as JSON.
    ///
    /// # Errors
    ///
    /// When it cannot be written as JSON.
    pub fn of(value: &impl Serialize) -> Result<Self, OutcomeProblem> {
        match encode(value, usize::MAX)? {
            bytes if bytes.is_empty() => Err(OutcomeProblem::new(
                OutcomeProblemKind::NotRecordable,
                "a part of it is `Unrecorded`",
            )),
            bytes => Self::from_bytes(bytes),
        }
    }

    pub(super) fn from_bytes(bytes: Vec<u8>) -> Result<Self, OutcomeProblem> {
        let refused = |error: &dyn fmt::Display| {
            OutcomeProblem::new(OutcomeProblemKind::NotRecordable, error)
        };
        let text = String::from_utf8(bytes).map_err(|error| refused(&error))?;
        if text.contains(['\n', '\r']) {
            return Err(refused(&"it has more than one line"));
        }

        RawValue::from_string(text)
            .map(Self)
            .map_err(|error| refused(&error))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        self.0.get()
    }

    /// The value.
    ///
    /// # Errors
    ///
    /// When it is no `T`.
    pub fn read<T: DeserializeOwned>(&self) -> Result<T, OutcomeProblem> {
        decode(self.as_str().as_bytes(), OutcomeProblemKind::Unreadable)
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Escaped::new(self.as_str()).fmt(f)
    }
}

/// A line of a record. Serialised it reads `{"outcome":{"step":"shop/charge#3","outcome":…}}`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
#[non_exhaustive]
pub enum Entry {
    /// What a step brought.
    Outcome {
        /// Its name.
        step: String,
        /// What its `exec` answered.
        outcome: Json,
    },
    /// A step sleeps.
    Sleep {
        /// Its name.
        step: String,
        /// Until when, in milliseconds since 1970.
        until: u64,
    },
    /// A step waits for an event.
    Waiting {
        /// Its name.
        step: String,
        /// The event.
        event: String,
        /// What for, for whoever is to answer; empty where nothing was said.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// Until when, in milliseconds since 1970.
        until: Option<u64>,
    },
    /// An event came. Its answer is kept until a step takes it.
    Answer {
        /// The event.
        event: String,
        /// What was delivered.
        answer: Json,
    },
    /// A step took the oldest answer that was kept for its event.
    Taken {
        /// Its name.
        step: String,
        /// The event.
        event: String,
    },
    /// A step could not read the oldest answer that was kept for its event; the answer is gone.
    Refused {
        /// The event.
        event: String,
        /// Why not, in one line.
        error: String,
    },
    /// A sleep or a wait ends sooner than was recorded: the clock was set back since, and it would have
    /// taken longer than it may.
    Shortened {
        /// The step that sleeps or waits.
        step: String,
        /// Until when, in milliseconds since 1970.
        until: u64,
    },
    /// No answer came in time.
    TimedOut {
        /// The step that waited.
        step: String,
    },
    /// The run as it stood after a step, in place of all before.
    Snapshot(Snapshot),
    /// The run stopped. It may be taken up again.
    Failed {
        /// Why, in one line.
        error: String,
    },
    /// The run came to its end.
    Ended {
        /// The label it ended on.
        action: String,
        /// Steps in all.
        steps: u64,
    },
}

/// A run as it stood between two steps.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Snapshot {
    /// The node to be visited next: the names of the subflows down to it, and its own.
    pub node: Vec<String>,
    /// How often the run went on, not counting steps inside items and branches.
    pub number: u64,
    /// Steps in all.
    pub steps: u64,
    /// The state.
    pub state: Json,
}

impl Snapshot {
    pub(crate) fn new(node: Vec<String>, number: u64, steps: u64, state: Json) -> Self {
        Self {
            node,
            number,
            steps,
            state,
        }
    }
}
