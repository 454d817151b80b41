use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Change, Status, Step, StepPath};

/// The maximum number of levels of a plan that is read.
pub const MAX_DEPTH: usize = 32;

/// A plan: a list of steps, each of which may have sub-steps.
///
/// Serialised as the list of its steps. Deserialising fails for unknown and repeated keys, a missing
/// description, and more than [`MAX_DEPTH`] levels.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan: Plan = [Step::done("Read", "two numbers"), Step::pending("Add")].into_iter().collect();
/// let (path, step) = plan.first_pending().ok_or("all done")?;
/// assert_eq!(format!("{path} {}", step.description), "2 Add");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "schemars", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schemars", schemars(inline, description = ""))]
pub struct Plan {
    #[serde(deserialize_with = "bounded")]
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
    pub fn into_steps(self) -> Vec<Step> {
        self.steps
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
        let mut indices = Vec::new();
        let step = first_pending(&self.steps, &mut indices)?;
        Some((StepPath::new(&indices), step))
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

/// Reads steps of at most [`MAX_DEPTH`] levels.
fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Step>, D::Error> {
    let steps = Vec::<Step>::deserialize(deserializer)?;

    // Reading is limited by the parser, but walking a plan recurses without a limit.
    if depth(&steps) > MAX_DEPTH {
        let message = format!("plan nests deeper than {MAX_DEPTH} levels");
        return Err(D::Error::custom(message));
    }
    Ok(steps)
}

/// Returns the number of levels. Readers of JSON and YAML refuse very deep texts.
fn depth(steps: &[Step]) -> usize {
    let depths = steps.iter().map(|step| 1 + depth(&step.sub_steps));
    depths.max().unwrap_or_default()
}

/// Returns the first pending step of one level or below, and adds its indices.
fn first_pending<'a>(steps: &'a [Step], indices: &mut Vec<usize>) -> Option<&'a Step> {
    for (index, step) in (1..).zip(steps) {
        indices.push(index);

        // A step is done after its sub-steps.
        let below = first_pending(&step.sub_steps, indices);
        if below.is_some() {
            return below;
        }

        let mut sub_steps = step.sub_steps.iter();
        // Sub-steps that need verification hold it up, although none of them is pending.
        let waits = sub_steps.any(|sub_step| sub_step.status != Status::Done);
        if step.status == Status::Pending && !waits {
            return Some(step);
        }

        indices.pop();
    }

    None
}
