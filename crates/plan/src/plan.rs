use std::mem;

use crate::{Change, Status, Step, StepPath, Walk};

/// The maximum number of levels of a plan that is read or written.
pub const MAX_DEPTH: usize = 32;

/// The error of readers and writers for a plan that is too deep.
pub(crate) fn too_deep() -> String {
    format!("plan nests deeper than {MAX_DEPTH} levels")
}

/// A plan: a list of steps, each of which may have sub-steps.
///
/// Serialised as the list of its steps. Deserialising, from any self-describing format such as YAML
/// or JSON, fails for unknown, repeated and missing keys and for more than [`MAX_DEPTH`] levels,
/// with the location in the text if the format supports that. Serialising fails at the same depth,
/// so that no plan is stored that cannot be read again. Questionable but readable plans are
/// accepted; [`problems`](Self::problems) reports what is wrong with them.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan: Plan = [Step::done("Read", "two numbers"), Step::pending("Add")].into_iter().collect();
/// let (path, step) = plan.first_pending().ok_or("all done")?;
/// assert_eq!(format!("{path} {}", step.description), "2 Add");
/// assert_eq!(plan.task_list().to_string(), "- [x] Read: two numbers\n- [ ] Add");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    steps: Vec<Step>,
}

impl Plan {
    /// Creates a plan without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the steps of the top level.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Returns the steps of the top level, mutably.
    pub fn steps_mut(&mut self) -> &mut Vec<Step> {
        &mut self.steps
    }

    /// Returns the steps of the top level, by value.
    pub fn into_steps(mut self) -> Vec<Step> {
        mem::take(&mut self.steps)
    }

    /// Returns whether the plan has no steps.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Returns the number of steps on all levels.
    pub fn len(&self) -> usize {
        self.walk().count()
    }

    /// Returns the step at a path.
    pub fn get(&self, path: &StepPath) -> Option<&Step> {
        let (mut parents, last) = path.positions()?;
        parents
            .try_fold(&self.steps, |steps, at| Some(&steps.get(at)?.sub_steps))?
            .get(last)
    }

    /// Returns the step at a path, mutably.
    pub fn get_mut(&mut self, path: &StepPath) -> Option<&mut Step> {
        let (mut parents, last) = path.positions()?;
        parents
            .try_fold(&mut self.steps, |steps, at| {
                Some(&mut steps.get_mut(at)?.sub_steps)
            })?
            .get_mut(last)
    }

    /// Returns an iterator over all steps in document order: each step before its sub-steps.
    pub fn walk(&self) -> Walk<'_> {
        Walk::new(&self.steps)
    }

    /// Returns the step to do next: the first pending step, in document order, that doesn't wait
    /// for others.
    ///
    /// A step without sub-steps doesn't wait. A step with sub-steps waits until all of them are
    /// done and none below them is pending.
    ///
    /// ```
    /// use cogwork_plan::{Plan, Step};
    ///
    /// let tens = Step::pending("Tens").with_sub_steps([Step::done("20 * 7", "140")]);
    /// let plan = Plan::from(vec![Step::pending("Multiply").with_sub_steps([tens, Step::pending("Ones")])]);
    /// assert_eq!(plan.first_pending().map(|(path, _)| path.to_string()), Some("1.1".into()));
    /// ```
    pub fn first_pending(&self) -> Option<(StepPath, &Step)> {
        let mut levels = vec![self.steps.iter().enumerate()];
        let mut parents: Vec<(usize, &Step)> = Vec::new();
        loop {
            let (position, step) = match levels.last_mut()?.next() {
                Some((position, step)) if step.sub_steps.is_empty() => (position, step),
                Some((position, step)) => {
                    parents.push((position, step));
                    levels.push(step.sub_steps.iter().enumerate());
                    continue;
                }
                None => {
                    levels.pop();
                    parents.pop()?
                }
            };

            let closes = step
                .sub_steps
                .iter()
                .all(|sub_step| sub_step.status == Status::Done);
            if step.status == Status::Pending && closes {
                let positions = parents
                    .iter()
                    .map(|(position, _)| *position)
                    .chain([position]);
                return Some((StepPath::from_positions(positions), step));
            }
        }
    }

    /// Returns the changes from `earlier` to this plan, in the order of this plan. The list is
    /// empty if and only if the two are equal.
    ///
    /// Steps have no ids, so they are matched among the steps with the same parent:
    ///
    /// 1. Steps with equal descriptions are the same step. If several descriptions are equal, their
    ///    steps are matched in order. Matched steps outside the longest run that kept its order are
    ///    [`Moved`](crate::ChangeKind::Moved).
    /// 2. Between two neighbouring matches (not counting moved steps), the remaining steps are
    ///    paired in order and are [`Reworded`](crate::ChangeKind::Reworded).
    /// 3. All other steps were [`Removed`](crate::ChangeKind::Removed) or
    ///    [`Added`](crate::ChangeKind::Added), together with their sub-steps. A step that moved to
    ///    another parent is reported as both.
    ///
    /// If a step had no sub-steps before, it is [`Refined`](crate::ChangeKind::Refined), and its
    /// sub-steps aren't reported. Takes `O(n log n)` time for `n` steps.
    ///
    /// ```
    /// use cogwork_plan::{Plan, Step};
    ///
    /// let before = Plan::from(vec![Step::pending("Add"), Step::pending("Multiply")]);
    /// let after = Plan::from(vec![
    ///     Step::done("Add", "7"),
    ///     Step::pending("Multiply").with_sub_steps([Step::pending("Tens"), Step::pending("Ones")]),
    /// ]);
    /// let changes: Vec<String> = after.changes_since(&before).iter().map(ToString::to_string).collect();
    /// assert_eq!(changes, ["1 Pending → Done: Add", "1 result 7: Add", "2 broken into 2 sub-steps: Multiply"]);
    /// ```
    pub fn changes_since(&self, earlier: &Plan) -> Vec<Change> {
        crate::changes::compare(&earlier.steps, &self.steps)
    }
}

impl From<Vec<Step>> for Plan {
    fn from(steps: Vec<Step>) -> Self {
        Self { steps }
    }
}

impl FromIterator<Step> for Plan {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self {
            steps: steps.into_iter().collect(),
        }
    }
}

impl Drop for Plan {
    /// Drops the levels one by one, since dropping them recursively would overflow the stack for a
    /// very deep plan. Implemented for `Plan` rather than `Step`, because the fields of a type with
    /// `Drop` cannot be moved out.
    fn drop(&mut self) {
        let mut steps = mem::take(&mut self.steps);
        while let Some(mut step) = steps.pop() {
            steps.append(&mut step.sub_steps);
        }
    }
}
