use std::fmt;

use cogwork_text::OneLine;
use serde::Serialize;

use crate::matching::{At, Pair, pair};
use crate::{Status, Step, StepPath};

/// A change of a plan, found by [`Plan::changes_since`](crate::Plan::changes_since). `Display`
/// writes one human-readable line: `2.1 Pending → Done: Add the tens`.
///
/// A change is serialised as one object: `{"path": "2.1", "description": "Add the tens", "change":
/// "status_changed", "from": "Pending", "to": "Done"}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// The path of the step; for a removed step, its earlier path.
    pub path: StepPath,
    /// The description of the step; for a removed step, its earlier description.
    pub description: String,
    /// The kind of change.
    #[serde(flatten)]
    pub kind: ChangeKind,
}

/// A kind of change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ChangeKind {
    /// The step is new, with all its sub-steps.
    Added,
    /// The step was removed, with all its sub-steps.
    Removed,
    /// The step had no sub-steps before.
    Refined {
        /// The number of its direct sub-steps.
        sub_steps: usize,
    },
    /// The status changed.
    StatusChanged {
        /// The earlier status.
        from: Status,
        /// The new status.
        to: Status,
    },
    /// The result was set, changed or removed.
    ResultChanged {
        /// The earlier result.
        from: Option<String>,
        /// The new result.
        to: Option<String>,
    },
    /// The mark was set, changed or removed.
    MarkChanged {
        /// The earlier mark.
        from: Option<String>,
        /// The new mark.
        to: Option<String>,
    },
    /// The description changed.
    Reworded {
        /// The earlier description.
        from: String,
    },
    /// The step moved relative to other steps of its parent.
    Moved {
        /// Its earlier path.
        from: StepPath,
    },
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.path)?;
        match &self.kind {
            ChangeKind::Added => f.write_str("added")?,
            ChangeKind::Removed => f.write_str("removed")?,
            ChangeKind::Refined { sub_steps: 1 } => f.write_str("broken into 1 sub-step")?,
            ChangeKind::Refined { sub_steps } => write!(f, "broken into {sub_steps} sub-steps")?,
            ChangeKind::StatusChanged { from, to } => write!(f, "{from} → {to}")?,
            ChangeKind::ResultChanged { from, to } => {
                write_texts(f, "result", from.as_deref(), to.as_deref())?
            }
            ChangeKind::MarkChanged { from, to } => {
                write_texts(f, "mark", from.as_deref(), to.as_deref())?
            }
            ChangeKind::Reworded { from } => write!(f, "reworded from \"{}\"", OneLine::new(from))?,
            ChangeKind::Moved { from } => write!(f, "moved from {from}")?,
        }

        write!(f, ": {}", OneLine::new(&self.description))
    }
}

fn write_texts(
    f: &mut fmt::Formatter<'_>,
    name: &str,
    from: Option<&str>,
    to: Option<&str>,
) -> fmt::Result {
    match (from, to) {
        (Some(from), Some(to)) => write!(f, "{name} {} → {}", OneLine::new(from), OneLine::new(to)),
        (None, Some(to)) => write!(f, "{name} {}", OneLine::new(to)),
        // What it was can be seen in the earlier plan.
        (_, None) => write!(f, "{name} dropped"),
    }
}

pub(crate) fn compare(earlier: &[Step], later: &[Step]) -> Vec<Change> {
    let mut comparison = Comparison::default();
    comparison.compare(earlier, later);
    comparison.changes
}

#[derive(Default)]
struct Comparison {
    changes: Vec<Change>,
    old_parents: Vec<usize>,
    new_parents: Vec<usize>,
}

impl Comparison {
    /// Compares two levels, and the levels below steps that are in both.
    fn compare(&mut self, earlier: &[Step], later: &[Step]) {
        for pair in pair(earlier, later) {
            let (old, new, moved) = match pair {
                Pair::Added(new) => {
                    self.report(new, ChangeKind::Added);
                    continue;
                }
                Pair::Removed(old) => {
                    self.report_removed(old);
                    continue;
                }
                Pair::Kept { old, new, moved } => (old, new, moved),
            };

            // Before the sub-steps, so that changes are in the order of the plan.
            self.compare_steps(old, new, moved);

            // New sub-steps of a step that had none are reported as one change.
            if !old.step.sub_steps.is_empty() {
                self.old_parents.push(old.index + 1);
                self.new_parents.push(new.index + 1);
                self.compare(&old.step.sub_steps, &new.step.sub_steps);
                self.old_parents.pop();
                self.new_parents.pop();
            }
        }
    }

    fn compare_steps(&mut self, old: At<'_>, new: At<'_>, moved: bool) {
        if moved {
            let from = path(&self.old_parents, old);
            self.report(new, ChangeKind::Moved { from });
        }

        compare_fields(old.step, new.step, |kind| self.report(new, kind));

        let sub_steps = new.step.sub_steps.len();
        if old.step.sub_steps.is_empty() && sub_steps > 0 {
            self.report(new, ChangeKind::Refined { sub_steps });
        }
    }

    fn report(&mut self, new: At<'_>, kind: ChangeKind) {
        self.changes.push(Change {
            path: path(&self.new_parents, new),
            description: new.step.description.clone(),
            kind,
        });
    }

    fn report_removed(&mut self, old: At<'_>) {
        self.changes.push(Change {
            path: path(&self.old_parents, old),
            // The later plan doesn't have it any more.
            description: old.step.description.clone(),
            kind: ChangeKind::Removed,
        });
    }
}

fn path(parents: &[usize], at: At<'_>) -> StepPath {
    StepPath::new(&[parents, &[at.index + 1]].concat())
}

fn compare_fields(old: &Step, new: &Step, mut report: impl FnMut(ChangeKind)) {
    if old.description != new.description {
        report(ChangeKind::Reworded {
            from: old.description.clone(),
        });
    }

    if old.status != new.status {
        report(ChangeKind::StatusChanged {
            from: old.status,
            to: new.status,
        });
    }

    if old.result != new.result {
        report(ChangeKind::ResultChanged {
            from: old.result.clone(),
            to: new.result.clone(),
        });
    }

    if old.mark != new.mark {
        report(ChangeKind::MarkChanged {
            from: old.mark.clone(),
            to: new.mark.clone(),
        });
    }
}
