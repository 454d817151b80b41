use std::iter::FusedIterator;
use std::slice;
use std::sync::Arc;

use crate::{Step, StepPath};

/// The steps of a plan in document order; made by [`Plan::walk`](crate::Plan::walk).
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

/// The way up from a level, shared by its steps: a path is only put together when it is asked for, and
/// costs nothing but one of these a parent until then.
#[derive(Debug)]
struct Parent {
    position: usize,
    parent: Option<Arc<Parent>>,
}

/// A step met on a [`Walk`].
#[derive(Debug, Clone)]
pub struct WalkEntry<'a> {
    /// The step.
    pub step: &'a Step,
    /// Its level, 1 for the steps of the top level.
    pub depth: usize,
    position: usize,
    parent: Option<Arc<Parent>>,
}

impl WalkEntry<'_> {
    /// The path of the step.
    pub fn path(&self) -> StepPath {
        let mut positions = vec![self.position];
        let mut next = self.parent.as_ref();
        while let Some(parent) = next {
            positions.push(parent.position);
            next = parent.parent.as_ref();
        }

        StepPath::from_positions(positions.into_iter().rev())
    }

    /// How many steps of the same parent come before this one.
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
    /// Lets go of the parents one by one; see the drop of `Plan`.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent).and_then(|mut parent| parent.parent.take());
        }
    }
}
