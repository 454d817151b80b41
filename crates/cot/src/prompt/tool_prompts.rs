use serde::{Deserialize, Serialize};

/// Texts about tools. They are only used by a node [with
/// tools](crate::ChainOfThought::with_tools).
///
/// The default is the texts of [`Prompts::english`](crate::Prompts::english), which prompts read
/// from a file without these texts also have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolPrompts {
    /// Follows the system text if the server supports tools. `{form_name}`.
    pub native: String,
    /// Follows the system text if the server doesn't support tools. `{tools}`, `{call_form}`,
    /// `{form_name}`; the first two are required.
    pub in_reply: String,
    /// The description of a reply with calls, if YAML is requested: `{call_form}`.
    pub yaml: String,
    /// The description of a reply with calls, if JSON is requested: `{call_form}`.
    pub json: String,
    /// The message with the results, if the server doesn't support tools. `{results}`,
    /// `{form_name}`.
    pub results: String,
    /// The message with the last results, after which no more tools may be called. `{results}`,
    /// `{form_name}`.
    pub last_results: String,
    /// What the tools returned in an earlier thought; it precedes the message after the thought.
    /// `{thought_number}`, `{results}`.
    pub earlier: String,
    /// Asks again after calls that could not be read. `{complaint}`, `{form_name}`.
    pub unreadable: String,
    /// Asks again after a reply with calls when no more tools may be called. `{form_name}`.
    pub used_up: String,
}
