//! Sessions as JSON, and by serde.

use std::fmt;

use cogwork_read::charge;
use cogwork_text::OneLine;
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Session;
use super::replay::restored;
use super::written::{Snapshot, VERSION, WrittenBranch};
use crate::Strategies;

/// The maximum length of a snapshot, in bytes: a full session with every character of its texts escaped.
const MAX_BYTES: usize = 1024 * 1024 * 1024;

impl Session {
    /// Reads a snapshot in JSON, of at most 1 GiB.
    ///
    /// # Errors
    ///
    /// When the text is longer, is no JSON, has another version, or is no session: a move that the strategy
    /// does not allow, a branch from a thought that is not there, a number that does not fit.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        if text.len() > MAX_BYTES {
            let message = format!("{} bytes; at most {MAX_BYTES} are read", text.len());
            return Err(SnapshotError {
                message,
                place: None,
            });
        }

        charge(text.len());
        serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let cut = message.rfind(" at line ").unwrap_or(message.len());
            let message = message.get(..cut).unwrap_or_default().to_owned();
            let place = Some((error.line(), error.column())).filter(|(line, _)| *line > 0);

            SnapshotError { message, place }
        })
    }
}

/// Characters shown of what is wrong with a snapshot.
const MESSAGE: usize = 400;

/// Why a snapshot could not be read. One line, fit for a terminal whatever the snapshot holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SnapshotError {
    message: String,
    place: Option<(usize, usize)>,
}

impl SnapshotError {
    /// The line in the text, from 1, where there is one.
    pub fn line(&self) -> Option<usize> {
        self.place.map(|(line, _)| line)
    }
}

impl fmt::Display for SnapshotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("snapshot: ")?;
        if let Some((line, column)) = self.place {
            write!(f, "line {line}, column {column}: ")?;
        }

        OneLine::new(&self.message).with_max_chars(MESSAGE).fmt(f)
    }
}

impl std::error::Error for SnapshotError {}

impl Serialize for Session {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let strategies: Strategies = self.strategies.iter().cloned().collect();
        let branches: Vec<_> = self.branches.iter().map(WrittenBranch::from).collect();
        let mut map = serializer.serialize_struct("Session", 7)?;
        map.serialize_field("version", &VERSION)?;
        map.serialize_field("strategy", self.strategy().name())?;
        map.serialize_field("policy", &self.policy)?;
        map.serialize_field("current", &self.current)?;
        map.serialize_field("branches", &branches)?;
        map.serialize_field("thoughts", &self.thoughts)?;
        map.serialize_field("strategies", &strategies)?;

        map.end()
    }
}

impl<'de> Deserialize<'de> for Session {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let snapshot = Snapshot::deserialize(deserializer)?;
        restored(snapshot).map_err(D::Error::custom)
    }
}
