use std::collections::BTreeMap;

use serde_json::Value;

use super::excerpt::Secrets;
use super::sse::Event;
use crate::{ChatRequest, ChatResponse, Delta, LlmError};

/// Fields that settings add to every request.
pub(crate) type Extra = BTreeMap<String, Value>;

/// The endpoint of an API, and how requests to it are addressed.
pub(crate) struct Protocol {
    /// The name of the client's type.
    pub(crate) client: &'static str,
    /// The first part of the path, which a base URL may already include.
    pub(crate) prefix: &'static str,
    /// The rest of the path.
    pub(crate) endpoint: &'static str,
    /// A valid base URL, for error messages.
    pub(crate) example: &'static str,
    /// The usual end of a base URL, as the end of a sentence.
    pub(crate) hint: &'static str,
    /// Fields that `extra` must not set.
    pub(crate) reserved: &'static [&'static str],
    /// The header of the API key, and the prefix of its value.
    pub(crate) key: (&'static str, &'static str),
    /// Headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
}

/// The form of conversations and replies in an API.
pub(crate) struct Chat {
    pub(crate) framing: Framing,
    pub(crate) encode: fn(&Call<'_>) -> Result<Vec<u8>, LlmError>,
    /// Decodes a complete response with a success status.
    pub(crate) decode: fn(&[u8], &Secrets) -> Result<ChatResponse, LlmError>,
    /// Creates the reader of a stream.
    pub(crate) reader: fn() -> Box<dyn Reader>,
}

impl Protocol {
    /// Returns the path after the base URL.
    pub(super) fn path(&self) -> String {
        format!("{}{}", self.prefix, self.endpoint)
    }

    /// Returns `base`, a base URL or its path, with the path of the protocol appended.
    pub(super) fn path_after(&self, base: &str) -> String {
        let base = base.strip_suffix(self.prefix).unwrap_or(base);
        format!("{base}{}", self.path())
    }
}

/// How a stream is divided into events.
#[derive(Clone, Copy)]
pub(crate) enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON value per line.
    Lines,
}

/// The content of a request body.
pub(crate) struct Call<'a> {
    pub(crate) model: &'a str,
    pub(crate) request: &'a ChatRequest,
    pub(crate) extra: &'a Extra,
    pub(crate) stream: bool,
}

/// Turns the events of one stream into deltas.
pub(crate) trait Reader: Send {
    /// Returns the deltas of one event, with [`Delta::End`] for the end marker.
    fn read(&mut self, event: &Event, secrets: &Secrets) -> Result<Vec<Delta>, LlmError>;

    /// Returns the number of bytes of the reply that were read but not yet emitted.
    fn held(&self) -> usize {
        0
    }

    /// Handles a connection that closed cleanly without the end marker: returns the last deltas if
    /// the reply may be complete nevertheless.
    fn end_without_mark(&mut self, _: &Secrets) -> Result<Option<Vec<Delta>>, LlmError> {
        Ok(None)
    }
}
