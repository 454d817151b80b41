use cogwork_ask::Rung;
use cogwork_llm::{Capabilities, ReplyFormat};
use cogwork_plan::Plan;

use crate::reply::FLAT_LEVELS;
use crate::{Reply, ReplyBounds};

/// The [`Rung`] on which a node starts.
///
/// From there, the node moves down automatically: if a server refuses a request because of its
/// form, the next rung is tried immediately, and later turns start there.
///
/// ```
/// use cogwork_cot::{ChainOfThought, Rung, ScriptedClient};
///
/// // A model that writes better without JSON.
/// let node = ChainOfThought::new(ScriptedClient::new(["…"])).with_format(Rung::Text);
/// // OpenAI's strict mode refuses recursive schemas, so don't ask for one first.
/// let node = node.with_format(Rung::FlatSchema);
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Format {
    /// Starts on the tightest rung that the client's
    /// [capabilities](cogwork_llm::LlmClient::capabilities) include, and skips those that they
    /// don't include.
    #[default]
    Auto,
    /// Starts on this rung, regardless of the client's capabilities. All looser rungs follow.
    From(Rung),
}

impl From<Rung> for Format {
    fn from(rung: Rung) -> Self {
        Self::From(rung)
    }
}

impl Format {
    /// Returns the rungs for a turn, tightest first. A rung is omitted if its schema cannot contain
    /// `plan`, because the reply has to repeat the whole plan.
    pub(crate) fn rungs(
        self,
        capabilities: Capabilities,
        plan: Option<&Plan>,
        bounds: ReplyBounds,
    ) -> Vec<Rung> {
        let is_wanted = |rung: Rung| match self {
            Self::Auto => rung.is_supported(capabilities),
            Self::From(first) => rung >= first,
        };
        let fits = |rung: Rung| plan.is_none_or(|plan| holds(rung, plan, bounds));

        Rung::ALL
            .into_iter()
            .filter(|rung| is_wanted(*rung) && fits(*rung))
            .collect()
    }
}

/// Returns whether a reply on this rung can contain the plan.
fn holds(rung: Rung, plan: &Plan, bounds: ReplyBounds) -> bool {
    match rung {
        Rung::Schema => bounds.hold(plan),
        Rung::FlatSchema => plan.walk().all(|entry| entry.depth <= FLAT_LEVELS),
        _ => true,
    }
}

/// Returns the response format that a request on this rung requires.
pub(crate) fn reply_format(rung: Rung, bounds: ReplyBounds) -> Option<ReplyFormat> {
    match rung {
        Rung::Schema => Some(ReplyFormat::schema("reply", Reply::json_schema(bounds))),
        Rung::FlatSchema => Some(ReplyFormat::schema("reply", Reply::flat_json_schema())),
        Rung::Json => Some(ReplyFormat::Json),
        _ => None,
    }
}
