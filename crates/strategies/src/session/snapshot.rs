//! Snapshots of sessions, as JSON and by serde.

use std::fmt;

use cogwork_text::OneLine;
use serde::de::Error as _;
use serde::ser::SerializeStruct;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Session;
use super::replay::restored;
use super::written::{Snapshot, VERSION, WrittenBranch};
use crate::Strategies;

/// The maximum length of a snapshot, in bytes. It fits a full session in which every character is
/// escaped.
const MAX_BYTES: usize = 1024 * 1024 * 1024;

impl Session {
    /// Reads a snapshot from JSON of up to 1 GiB.
    ///
    /// # Errors
    ///
    /// Returns an error if the text is longer, isn't JSON, has an unknown version, or doesn't
    /// describe a possible session: a move that the strategy doesn't allow, a fork of a thought
    /// that doesn't exist, or a number out of range.
    pub fn from_json(text: &str) -> Result<Self, SnapshotError> {
        if text.len() > MAX_BYTES {
            let message = format!("{} bytes; at most {MAX_BYTES} are read", text.len());
            return Err(SnapshotError {
                message,
                place: None,
            });
        }

        serde_json::from_str(text).map_err(|error| {
            let message = error.to_string();
            let cut = message.rfind(" at line ").unwrap_or(message.len());
            let message = message.get(..cut).unwrap_or_default().to_owned();
            let place = Some((error.line(), error.column())).filter(|(line, _)| *line > 0);

            SnapshotError { message, place }
        })
    }
}

/// The maximum number of characters of a message.
const MESSAGE: usize = 400;

/// A snapshot that can't be read.
///
/// The message is a single line and is safe to print to a terminal.
#[derive(Clone, PartialEq, Eq)]
pub struct SnapshotError {
    message: String,
    place: Option<(usize, usize)>,
}

cogwork_text::debug_as_display!(SnapshotError);

impl SnapshotError {
    /// Returns the line in the text, counted from 1, if it is known.
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
