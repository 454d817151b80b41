//! Tool calls that a person has to approve.

use std::collections::BTreeSet;

use cogwork_flow::journal::{CannotWait, scoped_event, wait_for};
use cogwork_text::Escaped;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

/// The maximum length of the arguments in a reason, in characters.
const MAX_ARGUMENTS: usize = 4_000;

/// A person's answer to a tool call that needs [approval](crate::Agent::with_approval).
///
/// It is also read from `true` or `false`.
///
/// ```
/// use cogwork_agents::ToolApproval;
///
/// let refused = ToolApproval::refused().with_reason("too expensive");
/// assert_eq!(serde_json::to_string(&refused)?, r#"{"approved":false,"reason":"too expensive"}"#);
/// assert_eq!(serde_json::from_str::<ToolApproval>("true")?, ToolApproval::approved());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ToolApproval {
    approved: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl ToolApproval {
    /// Creates an answer that permits the call.
    pub fn approved() -> Self {
        Self {
            approved: true,
            reason: None,
        }
    }

    /// Creates an answer that refuses the call.
    pub fn refused() -> Self {
        Self {
            approved: false,
            reason: None,
        }
    }

    /// Sets the reason, which the model is told if the call is refused. The default is none.
    #[must_use]
    pub fn with_reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }

    /// Returns the message to the model if the call is refused.
    fn refusal(self) -> Option<String> {
        if self.approved {
            return None;
        }

        let refusal = "refused by a person";
        Some(match self.reason.as_deref().map(str::trim) {
            None | Some("") => refusal.to_owned(),
            Some(reason) => format!("{refusal}: {reason}"),
        })
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected `true`, `false`, or an object with `approved` and optionally `reason`"
)]
enum Answer {
    Short(bool),
    Long(LongAnswer),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LongAnswer {
    approved: bool,
    reason: Option<String>,
}

impl<'de> Deserialize<'de> for ToolApproval {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(match Answer::deserialize(deserializer)? {
            Answer::Short(approved) => Self {
                approved,
                reason: None,
            },
            Answer::Long(LongAnswer { approved, reason }) => Self { approved, reason },
        })
    }
}

/// The tools whose calls need approval.
#[derive(Debug, Clone, Default)]
pub(super) struct Approval(BTreeSet<String>);

/// A tool call that a person is asked about.
pub(super) struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    /// The round of tool calls and the place in it, such as `2.1`.
    pub(super) number: &'a str,
}

impl Approval {
    pub(super) fn of(tools: BTreeSet<String>) -> Self {
        Self(tools)
    }

    pub(super) fn covers(&self, tool: &str) -> bool {
        self.0.contains(tool)
    }

    /// Waits for the approval of a call. Returns the message to the model if it is refused.
    pub(super) async fn refusal(&self, asked: Asked<'_>) -> Result<Option<String>, CannotWait> {
        let Asked {
            tool,
            arguments,
            number,
        } = asked;

        // The parsed arguments, because the text may contain a key twice.
        let arguments = serde_json::to_string(arguments).unwrap_or_default();
        let arguments = Escaped::new(arguments).with_max_chars(MAX_ARGUMENTS);
        let reason = format!("the agent wants to call the tool `{tool}` with {arguments}");

        let event = scoped_event(&format!("approve {tool} {number}"));
        let answer = wait_for::<ToolApproval>(&event, &reason, None).await?;
        Ok(answer.and_then(ToolApproval::refusal))
    }
}
