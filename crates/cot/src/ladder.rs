//! How tightly a server is asked to hold a reply to its form, and what the node learns of what it takes.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use cogwork_llm::{Capabilities, Capability, LlmError, LlmErrorKind, ReplyFormat};
use cogwork_plan::Plan;
use serde::{Deserialize, Serialize};

use crate::reply::FLAT_LEVELS;
use crate::{Reply, ReplyBounds};

/// How a reply is asked for, from the tightest hold to none.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Rung {
    /// By the JSON Schema of [`Reply::json_schema`], within bounds that fit the request's limit of tokens.
    Schema,
    /// By the JSON Schema of [`Reply::flat_json_schema`], for servers that take only a part of JSON Schema.
    FlatSchema,
    /// By JSON mode: the reply is JSON, and the instructions say which.
    Json,
    /// By the instructions alone: YAML in a fence.
    #[default]
    Yaml,
}

impl Rung {
    const ALL: [Self; 4] = [Self::Schema, Self::FlatSchema, Self::Json, Self::Yaml];

    pub(crate) fn is_json(self) -> bool {
        self != Self::Yaml
    }

    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// What the request asks of the server.
    pub(crate) fn format(self, bounds: ReplyBounds) -> Option<ReplyFormat> {
        match self {
            Self::Schema => Some(ReplyFormat::schema("reply", Reply::json_schema(bounds))),
            Self::FlatSchema => Some(ReplyFormat::schema("reply", Reply::flat_json_schema())),
            Self::Json => Some(ReplyFormat::Json),
            Self::Yaml => None,
        }
    }

    fn is_known(self, capabilities: Capabilities) -> bool {
        match self {
            Self::Schema | Self::FlatSchema => capabilities.has(Capability::JsonSchema),
            Self::Json => capabilities.has(Capability::JsonMode),
            Self::Yaml => true,
        }
    }

    /// Whether a reply can hold the plan, which it has to give back whole.
    fn holds(self, plan: &Plan, bounds: ReplyBounds) -> bool {
        match self {
            Self::Schema => bounds.hold(plan),
            Self::FlatSchema => plan.walk().all(|entry| entry.depth <= FLAT_LEVELS),
            Self::Json | Self::Yaml => true,
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Schema => "JSON Schema",
            Self::FlatSchema => "flat JSON Schema",
            Self::Json => "JSON mode",
            Self::Yaml => "YAML",
        })
    }
}

/// On which [`Rung`] a node begins. From there it goes down by itself: where a server refuses a
/// request for its form, the next rung is asked for at once, and the next turn begins there.
///
/// ```
/// use cogwork_cot::{ChainOfThought, Rung, ScriptedClient};
///
/// // A model that is better without JSON.
/// let node = ChainOfThought::new(ScriptedClient::new(["…"])).with_format(Rung::Yaml);
/// // The strict mode of OpenAI, without asking for the schema first that it refuses.
/// let node = node.with_format(Rung::FlatSchema);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// On the first one that the client [can](cogwork_llm::LlmClient::capabilities); of those beneath it,
    /// those that it can.
    #[default]
    Auto,
    /// On this one, whatever the client says of itself; all beneath it follow.
    From(Rung),
}

impl From<Rung> for Format {
    fn from(rung: Rung) -> Self {
        Self::From(rung)
    }
}

/// A rung that a server refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Refusal {
    /// What was asked for.
    pub rung: Rung,
    /// What the client's error said, on one line.
    pub error: String,
}

/// The rungs of a node, and where it stands. Its clones stand where it does.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ladder {
    format: Format,
    /// The first rung that was not refused.
    floor: Arc<AtomicU8>,
}

impl Ladder {
    pub(crate) fn new(format: Format) -> Self {
        Self { format, floor: Arc::default() }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    /// The rungs for a turn over this plan, wherever the node stands: what depends on that belongs to
    /// `exec`, or a replay would not be the same again.
    pub(crate) fn rungs(
        &self,
        capabilities: Capabilities,
        plan: Option<&Plan>,
        bounds: ReplyBounds,
    ) -> Vec<Rung> {
        let begins = |rung: Rung| match self.format {
            Format::Auto => rung.is_known(capabilities),
            Format::From(first) => rung >= first,
        };
        let holds = |rung: Rung| plan.is_none_or(|plan| rung.holds(plan, bounds));
        Rung::ALL.into_iter().filter(|rung| begins(*rung) && holds(*rung)).collect()
    }

    /// Whether a rung was not refused yet.
    pub(crate) fn reaches(&self, rung: Rung) -> bool {
        rung as u8 >= self.floor.load(Ordering::Relaxed)
    }

    /// Remembers that those above were refused, and this one was not.
    pub(crate) fn stand_on(&self, rung: Rung) {
        self.floor.fetch_max(rung as u8, Ordering::Relaxed);
    }
}

/// Whether an error is about the form that a request asks for. Servers refuse it as a bad request; some
/// (Ollama, proxies) fail instead, or say that nothing is found, and then their words tell.
pub(crate) fn refuses_format(error: &LlmError) -> bool {
    let told = || {
        let words = [error.message(), error.body().unwrap_or_default()].join(" ").to_lowercase();
        [
            "response_format",
            "output_config",
            "schema",
            "grammar",
            "structured output",
            "json mode",
            "json_object",
        ]
        .iter()
        .any(|word| words.contains(word))
    };
    let begun = error.text_so_far().is_some_and(|text| !text.is_empty());
    let refused = match (error.kind(), error.status()) {
        (LlmErrorKind::InvalidRequest, None | Some(400 | 415 | 422 | 501)) => true,
        (LlmErrorKind::InvalidRequest | LlmErrorKind::Server, _) => told(),
        _ => false,
    };
    refused && !begun
}
