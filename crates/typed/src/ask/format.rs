use cogwork_llm::Capabilities;

use crate::ask::Rung;

/// The [`Rung`] on which a program starts to ask a model.
///
/// From there, it moves down automatically: if a server refuses a request because of its form, the
/// next rung is tried immediately, and later requests start there.
///
/// ```
/// use cogwork_typed::ask::{Format, Rung};
/// use cogwork_llm::{Capabilities, Capability};
///
/// let json = Capabilities::none().with(Capability::JsonMode);
/// assert_eq!(Format::Auto.rungs(json), [Rung::Json, Rung::Text]);
///
/// // OpenAI's strict mode refuses bounds, so don't ask with bounds first.
/// let format = Format::from(Rung::FlatSchema);
/// assert_eq!(format.rungs(json), [Rung::FlatSchema, Rung::Json, Rung::Text]);
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
    /// Returns the rungs for a client with these capabilities, tightest first.
    pub fn rungs(self, capabilities: Capabilities) -> Vec<Rung> {
        let is_wanted = |rung: &Rung| match self {
            Self::Auto => rung.is_supported(capabilities),
            Self::From(first) => *rung >= first,
        };

        Rung::ALL.into_iter().filter(is_wanted).collect()
    }
}
