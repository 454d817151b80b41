use std::fmt;

use crate::text::said;
use crate::{MAX_DEPTH, Plan, Status, Step, StepPath};

/// A problem with a step, found by [`Plan::problems`]. `Display` writes one sentence.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::done("Add", "7").with_sub_steps([Step::pending("Tens")])]);
/// assert_eq!(plan.problems()[0].to_string(), "Step 1 is done before all its sub-steps are.");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Problem {
    /// The path of the step.
    pub path: StepPath,
    /// The kind of problem.
    pub kind: ProblemKind,
}

/// A kind of problem. Text that consists only of white space counts as empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The step is done, but not all its sub-steps are.
    ParentDoneBeforeChildren,
    /// The step is pending and has a result.
    ResultOnPending,
    /// The description is empty.
    EmptyDescription,
    /// The step is done and has neither sub-steps nor a result.
    DoneWithoutResult,
    /// The step needs verification, but has no mark that gives the reason.
    VerificationWithoutMark,
    /// The step is on a level below [`MAX_DEPTH`], so the plan cannot be read again. Its sub-steps
    /// aren't checked.
    TooDeep,
}

impl Plan {
    /// Returns the problems of the plan in document order; see [`ProblemKind`](crate::ProblemKind).
    ///
    /// Plans with these problems can still be deserialised: models do write them, and refusing one
    /// would discard the work in it.
    pub fn problems(&self) -> Vec<Problem> {
        check(self)
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = &self.path;
        match self.kind {
            ProblemKind::ParentDoneBeforeChildren => {
                write!(f, "Step {path} is done before all its sub-steps are.")
            }
            ProblemKind::ResultOnPending => {
                write!(f, "Step {path} has a result though it is pending.")
            }
            ProblemKind::EmptyDescription => write!(f, "Step {path} has an empty description."),
            ProblemKind::DoneWithoutResult => write!(f, "Step {path} is done without a result."),
            ProblemKind::VerificationWithoutMark => {
                write!(
                    f,
                    "Step {path} needs verification without a mark that says why."
                )
            }
            ProblemKind::TooDeep => {
                write!(f, "Step {path} is nested deeper than {MAX_DEPTH} levels.")
            }
        }
    }
}

/// Stops at the first level that is too deep, since the length of all paths below it grows
/// quadratically.
pub(crate) fn check(plan: &Plan) -> Vec<Problem> {
    let mut problems = Vec::new();
    for entry in plan.walk().filter(|entry| entry.depth <= MAX_DEPTH + 1) {
        let mut found = |kind| {
            problems.push(Problem {
                path: entry.path(),
                kind,
            })
        };
        if entry.depth > MAX_DEPTH {
            found(ProblemKind::TooDeep);
        } else {
            check_step(entry.step, &mut found);
        }
    }

    problems
}

fn check_step(step: &Step, found: &mut impl FnMut(ProblemKind)) {
    if step.description.trim().is_empty() {
        found(ProblemKind::EmptyDescription);
    }
    match step.status {
        Status::Pending if said(&step.result).is_some() => found(ProblemKind::ResultOnPending),
        Status::Done
            if step
                .sub_steps
                .iter()
                .any(|sub_step| sub_step.status != Status::Done) =>
        {
            found(ProblemKind::ParentDoneBeforeChildren);
        }
        Status::Done if step.sub_steps.is_empty() && said(&step.result).is_none() => {
            found(ProblemKind::DoneWithoutResult);
        }
        Status::VerificationNeeded if said(&step.mark).is_none() => {
            found(ProblemKind::VerificationWithoutMark)
        }
        _ => {}
    }
}
