use std::iter::FusedIterator;
use std::slice;
use std::sync::Arc;

use crate::{Step, StepPath};

/// An iterator over the steps of a plan in document order. Created by
/// [`Plan::walk`](crate::Plan::walk).
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::pending("a").with_sub_steps([Step::pending("b")]), Step::pending("c")]);
/// let lines: Vec<String> = plan
///     .walk()
///     .map(|entry| format!("{} {} {}", entry.depth, entry.path(), entry.step.description))
///     .collect();
/// assert_eq!(lines, ["1 1 a", "2 1.1 b", "1 2 c"]);
/// ```
#[derive(Debug, Clone)]
pub struct Walk<'a> {
    levels: Vec<Level<'a>>,
}

#[derive(Debug, Clone)]
struct Level<'a> {
    steps: std::iter::Enumerate<slice::Iter<'a, Step>>,
    parent: Option<Arc<Parent>>,
}

/// The parents of a level, shared by its steps. A path is only created on request; until then, each
/// parent costs one of these.
#[derive(Debug)]
struct Parent {
    position: usize,
    parent: Option<Arc<Parent>>,
}

/// A step visited by a [`Walk`].
#[derive(Debug, Clone)]
pub struct WalkEntry<'a> {
    /// The step.
    pub step: &'a Step,
    /// The level of the step, starting at 1.
    pub depth: usize,
    position: usize,
    parent: Option<Arc<Parent>>,
}

impl WalkEntry<'_> {
    /// Returns the path of the step.
    pub fn path(&self) -> StepPath {
        let mut positions = vec![self.position];
        let mut next = self.parent.as_ref();
        while let Some(parent) = next {
            positions.push(parent.position);
            next = parent.parent.as_ref();
        }

        StepPath::from_positions(positions.into_iter().rev())
    }

    /// Returns the index of the step among the steps with the same parent, starting at 0.
    pub(crate) fn position(&self) -> usize {
        self.position
    }
}

impl<'a> Walk<'a> {
    pub(crate) fn new(steps: &'a [Step]) -> Self {
        Self {
            levels: vec![Level {
                steps: steps.iter().enumerate(),
                parent: None,
            }],
        }
    }
}

impl<'a> Iterator for Walk<'a> {
    type Item = WalkEntry<'a>;

    fn next(&mut self) -> Option<WalkEntry<'a>> {
        loop {
            let depth = self.levels.len();
            let level = self.levels.last_mut()?;
            let Some((position, step)) = level.steps.next() else {
                self.levels.pop();
                continue;
            };

            let parent = level.parent.clone();
            if !step.sub_steps.is_empty() {
                let above = Arc::new(Parent {
                    position,
                    parent: parent.clone(),
                });
                self.levels.push(Level {
                    steps: step.sub_steps.iter().enumerate(),
                    parent: Some(above),
                });
            }

            return Some(WalkEntry {
                step,
                depth,
                position,
                parent,
            });
        }
    }
}

impl FusedIterator for Walk<'_> {}

impl Drop for Parent {
    /// Drops the parents one by one; see the `Drop` of `Plan`.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}
