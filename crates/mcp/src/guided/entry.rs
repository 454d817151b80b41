//! The record of a session: what it began with, and what the host gave it.

use serde::{Deserialize, Serialize};

use super::board::Reply;
use super::settings::Settings;

/// An entry of a session.
///
/// A run depends on nothing else, so giving the replies again in the same order leads to the same
/// questions. Times are in milliseconds since the beginning.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Entry {
    Begin(Box<Settings>),
    Replies { at: u64, replies: Vec<GivenReply> },
    Stop { at: u64, reason: StopReason },
}

/// A reply that was accepted.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct GivenReply {
    pub(super) question: String,
    pub(super) reply: String,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) failed: bool,
}

/// Why a session is stopped before it is complete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum StopReason {
    /// The client asked for the best answer so far.
    Asked,
    Time,
    Replies,
}

impl GivenReply {
    pub(super) fn reply(&self) -> Reply {
        Reply {
            text: self.reply.clone(),
            failed: self.failed,
        }
    }
}
