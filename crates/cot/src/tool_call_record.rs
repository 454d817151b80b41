use cogwork_llm::ToolCall;
use cogwork_typed::ask::ToolUse;
use serde::{Deserialize, Serialize};

/// A tool call of a turn, and its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ToolCallRecord {
    /// The number of the [try](cogwork_typed::ask::Try) whose reply requested the call, from 1.
    pub after_try: u32,
    /// The name of the tool, as the model wrote it.
    pub name: String,
    /// The input, as the model wrote it. It is a JSON object if the call was made.
    pub input: String,
    /// The output, or a description of the failure. The model reads either.
    pub output: String,
    /// Whether the call failed or wasn't made.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub failed: bool,
}

impl ToolCallRecord {
    /// Creates the record of a call that hasn't returned yet.
    pub(crate) fn begun(after_try: u32, call: &ToolCall) -> Self {
        Self {
            after_try,
            name: call.name().to_owned(),
            input: call.arguments().to_owned(),
            output: "the turn ended before the tool returned".to_owned(),
            failed: true,
        }
    }

    /// Adds the result.
    pub(crate) fn end(&mut self, used: ToolUse) {
        self.failed = used.failed;
        self.output = used.result;
    }
}
