use std::fmt;

use serde::{Deserialize, Serialize};

/// The status of a step.
///
/// Serialised as `Pending`, `Done` or `Verification Needed`. Words that models use for them, such
/// as `Finished`, are read, too.
///
/// ```
/// use cogwork_plan::Status;
///
/// assert_eq!(Status::default(), Status::Pending);
/// assert_eq!(Status::VerificationNeeded.to_string(), "Verification Needed");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
pub enum Status {
    /// To be done.
    #[default]
    #[serde(alias = "In Progress", alias = "in_progress")]
    Pending,
    /// Done. The result contains the outcome.
    #[serde(alias = "Finished", alias = "Completed", alias = "completed")]
    Done,
    /// Done, but in doubt. The mark contains the reason.
    #[serde(rename = "Verification Needed", alias = "Needs Verification")]
    VerificationNeeded,
}

impl Status {
    /// Returns the serialised form: `Pending`, `Done` or `Verification Needed`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Done => "Done",
            Self::VerificationNeeded => "Verification Needed",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Columns of tables can give a width.
        f.pad(self.as_str())
    }
}
