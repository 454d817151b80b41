use std::mem;

use crate::{
    Change, Outline, PlanMermaid, PlanProgress, Problem, Status, Step, StepPath, TaskList, Walk,
};

/// How many levels of steps a plan may have to be read or written.
pub const MAX_DEPTH: usize = 32;

/// What readers and writers say of one that has more.
pub(crate) fn too_deep() -> String {
    format!("plan nests deeper than {MAX_DEPTH} levels")
}

/// A plan: steps in order, each of which may be broken into steps of its own.
///
/// Serialised as the list of its steps. Reading, from YAML, JSON or any other format that describes
/// itself, refuses unknown, repeated and missing keys and more than [`MAX_DEPTH`]
/// levels, each with the place the format's reader knows; writing refuses the same depth, so that
/// nothing is stored that cannot be read again. What is unwise but readable is kept and reported by
/// [`problems`](Self::problems).
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
    /// A plan without steps.
    pub fn new() -> Self {
        Self::default()
    }

    /// The steps of the top level.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The steps of the top level, to be changed.
    pub fn steps_mut(&mut self) -> &mut Vec<Step> {
        &mut self.steps
    }

    /// The steps of the top level, taken out.
    pub fn into_steps(mut self) -> Vec<Step> {
        mem::take(&mut self.steps)
    }

    /// Whether there is no step.
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// How many steps there are on all levels.
    pub fn len(&self) -> usize {
        self.walk().count()
    }

    /// The step at a path.
    pub fn get(&self, path: &StepPath) -> Option<&Step> {
        let (mut parents, last) = path.positions()?;
        parents
            .try_fold(&self.steps, |steps, at| Some(&steps.get(at)?.sub_steps))?
            .get(last)
    }

    /// The step at a path, to be changed.
    pub fn get_mut(&mut self, path: &StepPath) -> Option<&mut Step> {
        let (mut parents, last) = path.positions()?;
        parents
            .try_fold(&mut self.steps, |steps, at| {
                Some(&mut steps.get_mut(at)?.sub_steps)
            })?
            .get_mut(last)
    }

    /// All steps in document order: each before its sub-steps.
    pub fn walk(&self) -> Walk<'_> {
        Walk::new(&self.steps)
    }

    /// The step to do next: the first pending one in document order that waits for no other.
    ///
    /// A step without sub-steps waits for none. One with sub-steps has its turn, to be closed, when
    /// they are all done and none beneath them is pending.
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

    /// How much is done, counted over the steps that have no sub-steps.
    pub fn progress(&self) -> PlanProgress {
        PlanProgress::of(self)
    }

    /// What is wrong with the plan, in document order; see [`ProblemKind`](crate::ProblemKind).
    ///
    /// Models write such plans, and a plan refused is work lost, so these are reported and not errors.
    pub fn problems(&self) -> Vec<Problem> {
        crate::problems::check(self)
    }

    /// What happened to `earlier` to make it this plan, in the order of this plan; empty exactly when
    /// the two are equal.
    ///
    /// Steps have no names of their own, so they are matched among the steps of one parent:
    ///
    /// 1. Steps of equal description are the same step, the first with the first where several are equal.
    ///    Those outside the longest run that kept its order are [`Moved`](crate::ChangeKind::Moved).
    /// 2. Between two neighbours so matched (moved ones aside), what is left over is paired in order and
    ///    [`Reworded`](crate::ChangeKind::Reworded).
    /// 3. What is still left was [`Removed`](crate::ChangeKind::Removed) or
    ///    [`Added`](crate::ChangeKind::Added), together with what it holds; a step that went to another
    ///    parent is both.
    ///
    /// A step that had no sub-steps and has some now is [`Refined`](crate::ChangeKind::Refined), and they
    /// are not reported one by one. Time grows as `n log n` with the steps.
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

    /// The plan for people, one line a step: `- [Done] description: result (mark)`.
    pub fn outline(&self) -> Outline<'_> {
        Outline::new(self)
    }

    /// The plan as a Markdown task list.
    pub fn task_list(&self) -> TaskList<'_> {
        TaskList::new(self)
    }

    /// The plan as a Mermaid flowchart.
    pub fn mermaid(&self) -> PlanMermaid<'_> {
        PlanMermaid::new(self)
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
    /// Takes the levels apart one by one: dropping them inside one another would exhaust the stack on a
    /// plan made very deep. On `Plan` and not on `Step`, whose fields could no longer be moved out.
    fn drop(&mut self) {
        let mut steps = mem::take(&mut self.steps);
        while let Some(mut step) = steps.pop() {
            steps.append(&mut step.sub_steps);
        }
    }
}
