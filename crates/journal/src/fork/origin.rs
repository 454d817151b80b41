use std::fmt;

use cogwork_text::{Name, NameList};
use serde::{Deserialize, Serialize};

/// Where a run was forked from, as recorded with it. See [`Fork`](crate::Fork).
///
/// `{}` writes it in one line: "`run 3` at step 7, with a different outcome of shop/charge#7".
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ForkOrigin {
    /// The id of the other run.
    pub run_id: String,
    /// The step at which the runs part. All steps before it were taken from the other run.
    pub step: u64,
    /// The names of the steps with a different outcome than in the other run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub edited_outcomes: Vec<String>,
    /// Whether the state before the step was edited.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub edited_state: bool,
}

impl fmt::Display for ForkOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let run_id = Name(&self.run_id);
        write!(f, "`{run_id}` at step {}", self.step)?;

        if self.edited_state {
            f.write_str(", with an edited state")?;
        }
        if self.edited_outcomes.is_empty() {
            return Ok(());
        }

        let outcomes = NameList::and(&self.edited_outcomes);
        write!(f, ", with a different outcome of {outcomes}")
    }
}
