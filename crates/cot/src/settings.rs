use schemars::JsonSchema;
use serde::Deserialize;

/// Which earlier thoughts a request contains. It always contains the last plan, and no earlier
/// plans.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum History {
    /// All of them. Each request appends to the previous one, so the server can cache everything
    /// but the last message.
    #[default]
    All,
    /// This number of the newest thoughts.
    Window(usize),
    /// The newest thoughts whose texts have at most this many bytes in total, including what is
    /// shown of their tool calls, and at least the last one.
    Bytes(usize),
}

/// What happens when a reply ends the reasoning while steps of its plan are not done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EarlyEnd {
    /// Ask about it once in the turn. If the model confirms the end, or if asking fails (unusable
    /// replies, a limit, a failed call), accept the reply and mark the thought.
    #[default]
    Ask,
    /// Accept the reply and mark the thought.
    Accept,
    /// Treat the reply as unusable.
    Refuse,
}
