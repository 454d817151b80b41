use std::fmt;

use serde::{Serialize, Serializer};

/// The position of a step: `2.1` is the first sub-step of the second step. Numbers start at 1.
///
/// Paths are ordered like the steps in the document: a step, its sub-steps, the next step.
/// Serialised as text.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::pending("Multiply").with_sub_steps([Step::pending("Tens")])]);
/// let (path, _) = plan.first_pending().ok_or("all done")?;
/// assert_eq!(path.indices(), [1, 1]);
/// assert_eq!(path.to_string(), "1.1");
/// # Ok::<(), &str>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StepPath {
    /// Contains at least one number and no zeros.
    indices: Vec<usize>,
}

impl StepPath {
    pub(crate) fn new(indices: &[usize]) -> Self {
        Self {
            indices: indices.to_vec(),
        }
    }

    /// Returns the numbers, starting with the top level. There is at least one, and each is at
    /// least 1.
    pub fn indices(&self) -> &[usize] {
        &self.indices
    }

    /// Returns the indices, starting at 0, of the parents from the top level down and of the step.
    pub(crate) fn positions(&self) -> Option<(impl Iterator<Item = usize>, usize)> {
        let (last, parents) = self.indices.split_last()?;
        // People count from 1, and slices from 0.
        Some((parents.iter().map(|index| index - 1), last - 1))
    }
}

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.indices
            .iter()
            .enumerate()
            .try_for_each(|(level, index)| {
                let dot = if level == 0 { "" } else { "." };
                write!(f, "{dot}{index}")
            })
    }
}

impl Serialize for StepPath {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
