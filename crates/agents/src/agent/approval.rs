//! Tool calls that a person has to approve.

use std::collections::BTreeSet;

use cogwork_flow::journal::{CannotWait, scoped_event, wait_for};
use cogwork_text::Escaped;
use cogwork_tools::ToolApproval;
use serde_json::{Map, Value};

use crate::load::LoadedSecrets;

/// The maximum length of the arguments in a reason, in characters.
const MAX_ARGUMENTS: usize = 4_000;

/// The tools whose calls need approval.
#[derive(Debug, Clone, Default)]
pub(super) struct Approval {
    pub(super) tools: BTreeSet<String>,
    /// What the question for a person doesn't show.
    pub(super) secrets: LoadedSecrets,
}

/// A tool call that a person is asked about.
pub(super) struct Asked<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    /// The round of tool calls and the place in it, such as `2.1`.
    pub(super) number: &'a str,
}

impl Approval {
    pub(super) fn covers(&self, tool: &str) -> bool {
        self.tools.contains(tool)
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
        let reason = self.secrets.hide(&reason);

        let event = scoped_event(&format!("approve {tool} {number}"));
        let answer = wait_for::<ToolApproval>(&event, &reason, None).await?;
        Ok(answer.and_then(|answer| answer.refusal()))
    }
}
