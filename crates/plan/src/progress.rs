use std::fmt;

use crate::{Plan, Status};

/// How much of a plan is done. Only steps without sub-steps count: a step with three sub-steps
/// counts as three. Created by [`Plan::progress`].
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::done("a", "1"), Step::verification_needed("b", "?"), Step::pending("c")]);
/// assert_eq!(plan.progress().to_string(), "1 of 3 steps done, 1 to verify");
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct PlanProgress {
    /// The number of steps that are done.
    pub done: usize,
    /// The number of steps that need verification.
    pub verification_needed: usize,
    /// The number of pending steps.
    pub pending: usize,
}

impl Plan {
    /// Returns how much of the plan is done. Only steps without sub-steps count.
    pub fn progress(&self) -> PlanProgress {
        PlanProgress::of(self)
    }
}

impl PlanProgress {
    pub(crate) fn of(plan: &Plan) -> Self {
        let mut progress = Self::default();
        // A step with sub-steps is as far as these are, and would be counted twice.
        for entry in plan.walk().filter(|entry| entry.step.sub_steps.is_empty()) {
            let count = match entry.step.status {
                Status::Done => &mut progress.done,
                Status::VerificationNeeded => &mut progress.verification_needed,
                Status::Pending => &mut progress.pending,
            };
            *count += 1;
        }

        progress
    }

    /// Returns the total number of counted steps.
    pub fn total(&self) -> usize {
        self.done + self.verification_needed + self.pending
    }

    /// Returns the fraction of steps that are done, from 0 to 1; 0 for a plan without steps.
    pub fn fraction(&self) -> f64 {
        // A plan without steps hasn't got anywhere.
        self.done as f64 / self.total().max(1) as f64
    }
}

impl fmt::Display for PlanProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let steps = if self.total() == 1 { "step" } else { "steps" };
        write!(f, "{} of {} {steps} done", self.done, self.total())?;
        match self.verification_needed {
            0 => Ok(()),
            count => write!(f, ", {count} to verify"),
        }
    }
}
