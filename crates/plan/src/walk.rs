use crate::{Plan, Step, StepPath};

/// A step visited by [`Plan::walk`].
#[derive(Debug, Clone)]
pub struct WalkEntry<'a> {
    /// The step.
    pub step: &'a Step,
    /// The level of the step, starting at 1.
    pub depth: usize,
    path: StepPath,
}

impl WalkEntry<'_> {
    /// Returns the path of the step.
    pub fn path(&self) -> &StepPath {
        &self.path
    }
}

impl Plan {
    /// Returns an iterator over all steps in document order: each step before its sub-steps.
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
    pub fn walk(&self) -> impl Iterator<Item = WalkEntry<'_>> {
        let mut entries = Vec::new();
        visit(self.steps(), &mut Vec::new(), &mut entries);
        // Plans are small, and a lazy walk would need a stack of its own.
        entries.into_iter()
    }
}

fn visit<'a>(steps: &'a [Step], indices: &mut Vec<usize>, entries: &mut Vec<WalkEntry<'a>>) {
    for (index, step) in (1..).zip(steps) {
        indices.push(index);
        entries.push(WalkEntry {
            step,
            depth: indices.len(),
            path: StepPath::new(indices),
        });

        visit(&step.sub_steps, indices, entries);
        indices.pop();
    }
}
