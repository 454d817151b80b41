use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::{LlmError, LlmErrorKind};
use serde::{Deserialize, Serialize};

/// How strictly a server is asked to constrain the form of a reply, tightest first.
///
/// A program may begin with any of them. If a server refuses a request because of its format, the
/// next one is tried immediately, and later requests start there.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Format {
    /// With a JSON Schema.
    Schema,
    /// With a JSON Schema without recursion, for servers that support only part of JSON Schema.
    FlatSchema,
    /// With JSON mode: the reply is JSON, and the instructions describe its structure.
    Json,
    /// Only with the instructions.
    #[default]
    Text,
}

impl Format {
    /// All formats, tightest first.
    pub const ALL: [Self; 4] = [Self::Schema, Self::FlatSchema, Self::Json, Self::Text];

    /// Returns whether the reply is requested as JSON.
    pub fn is_json(self) -> bool {
        self != Self::Text
    }

    /// Returns whether this is the default, [`Format::Text`].
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the formats from `first` on, tightest first. If `first` is `None`, these are the ones
    /// that a client with these capabilities is known to support.
    ///
    /// ```
    /// use cogwork_llm::backend::{Capabilities, Capability};
    /// use cogwork_typed::ask::Format;
    ///
    /// let json = Capabilities::none().with(Capability::JsonMode);
    /// assert_eq!(Format::from_first(None, json), [Format::Json, Format::Text]);
    ///
    /// // OpenAI's strict mode refuses bounds, so don't ask with bounds first.
    /// let flat = Format::from_first(Some(Format::FlatSchema), json);
    /// assert_eq!(flat, [Format::FlatSchema, Format::Json, Format::Text]);
    /// ```
    pub fn from_first(first: Option<Self>, capabilities: Capabilities) -> Vec<Self> {
        let is_tried = |format: &Self| match (first, format) {
            (Some(first), format) => *format >= first,
            (None, Self::Schema | Self::FlatSchema) => capabilities.has(Capability::JsonSchema),
            (None, Self::Json) => capabilities.has(Capability::JsonMode),
            (None, Self::Text) => true,
        };

        Self::ALL.into_iter().filter(is_tried).collect()
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schema => "JSON Schema",
            Self::FlatSchema => "flat JSON Schema",
            Self::Json => "JSON mode",
            Self::Text => "plain text",
        })
    }
}

/// A format that the server refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FormatRefusal {
    /// The requested format.
    pub format: Format,
    /// The message of the client's error, on one line.
    pub error: String,
}

/// Remembers which formats a server has refused. Clones share the memory.
#[derive(Debug, Clone, Default)]
pub struct RefusedFormats {
    /// The tightest format that hasn't been refused.
    tightest: Arc<AtomicU8>,
}

impl RefusedFormats {
    /// Returns whether `format` hasn't been refused.
    pub fn allows(&self, format: Format) -> bool {
        format as u8 >= self.tightest.load(Ordering::Relaxed)
    }

    /// Records that `format` was accepted after the tighter ones were refused.
    pub(crate) fn settle_on(&self, format: Format) {
        self.tightest.fetch_max(format as u8, Ordering::Relaxed);
    }
}

/// Returns whether the error is about the requested format of the reply.
///
/// Most servers report such a request as invalid. Some (Ollama, proxies) report a failure or "not
/// found" instead, so the message has to be checked.
pub(crate) fn refuses_format(error: &LlmError) -> bool {
    // If the server has begun to reply, it has accepted the format.
    if error.text_so_far().is_some_and(|text| !text.is_empty()) {
        return false;
    }

    match (error.kind(), error.status()) {
        (LlmErrorKind::InvalidRequest, None | Some(400 | 415 | 422 | 501)) => true,
        (LlmErrorKind::InvalidRequest | LlmErrorKind::Server, _) => names_a_format(error),
        _ => false,
    }
}

fn names_a_format(error: &LlmError) -> bool {
    const NAMES: [&str; 7] = [
        "response_format",
        "output_config",
        "schema",
        "grammar",
        "structured output",
        "json mode",
        "json_object",
    ];

    let body = error.body().unwrap_or_default();
    let words = [error.message(), body].join(" ").to_lowercase();
    NAMES.iter().any(|name| words.contains(name))
}
