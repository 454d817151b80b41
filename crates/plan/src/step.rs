use serde::{Deserialize, Serialize};

use crate::Status;

/// A step of a plan, which may have sub-steps.
///
/// Serialised with the keys `description`, `status`, `result`, `mark` and `sub_steps`. The last
/// three are omitted if they are empty. A step without a status is pending.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![
///     Step::done("Understand the problem", "24 times 27"),
///     Step::pending("Multiply").with_sub_steps([
///         Step::verification_needed("Tens", "a zero is missing"),
///         Step::pending("Ones"),
///     ]),
/// ]);
/// assert_eq!(plan.len(), 4);
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a plan step with a description")]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(description = "One step of a plan."))]
pub struct Step {
    /// What to do.
    pub description: String,
    /// The status.
    #[serde(default)]
    pub status: Status,
    /// The outcome, in short.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Why the step needs verification.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<String>,
    /// The sub-steps, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_steps: Vec<Step>,
}

impl Step {
    /// Creates a pending step.
    pub fn pending(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            status: Status::Pending,
            result: None,
            mark: None,
            sub_steps: Vec::new(),
        }
    }

    /// Creates a step that is done.
    pub fn done(description: impl Into<String>, result: impl Into<String>) -> Self {
        Self {
            status: Status::Done,
            result: Some(result.into()),
            ..Self::pending(description)
        }
    }

    /// Creates a step that needs verification.
    pub fn verification_needed(description: impl Into<String>, mark: impl Into<String>) -> Self {
        Self {
            status: Status::VerificationNeeded,
            mark: Some(mark.into()),
            ..Self::pending(description)
        }
    }

    /// Sets the sub-steps.
    pub fn with_sub_steps(mut self, sub_steps: impl IntoIterator<Item = Step>) -> Self {
        self.sub_steps = sub_steps.into_iter().collect();
        self
    }
}
