use crate::Status;

/// One step of a plan, with the steps it was broken into.
///
/// Written and read with the keys `description`, `status`, `result`, `mark` and `sub_steps`; the last
/// three are left out when there is nothing to say, and `null` is read as nothing. Reading takes a
/// number or a truth value for a text, since models write `result: 42`.
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
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(
    feature = "schemars",
    schemars(deny_unknown_fields, description = "One step of a plan.")
)]
pub struct Step {
    /// What is to be done.
    pub description: String,
    /// How far it is.
    pub status: Status,
    /// What came of it, in short.
    pub result: Option<String>,
    /// Why it has to be verified.
    pub mark: Option<String>,
    /// The steps it was broken into, in order.
    #[cfg_attr(feature = "schemars", schemars(default))]
    pub sub_steps: Vec<Step>,
}

impl Step {
    /// A step still to do.
    pub fn pending(description: impl Into<String>) -> Self {
        Self {
            description: description.into(),
            status: Status::Pending,
            result: None,
            mark: None,
            sub_steps: Vec::new(),
        }
    }

    /// A step done, and its result.
    pub fn done(description: impl Into<String>, result: impl Into<String>) -> Self {
        Self {
            status: Status::Done,
            result: Some(result.into()),
            ..Self::pending(description)
        }
    }

    /// A step in doubt, and why.
    pub fn verification_needed(description: impl Into<String>, mark: impl Into<String>) -> Self {
        Self {
            status: Status::VerificationNeeded,
            mark: Some(mark.into()),
            ..Self::pending(description)
        }
    }

    /// The same step, broken into these sub-steps in place of any it had.
    pub fn with_sub_steps(mut self, sub_steps: impl IntoIterator<Item = Step>) -> Self {
        self.sub_steps = sub_steps.into_iter().collect();
        self
    }
}
