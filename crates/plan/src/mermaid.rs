use std::fmt;

use cogwork_text::MermaidLabel;

use crate::text::StepLine;
use crate::{Plan, Status};

/// A plan as a Mermaid flowchart, without a line break at the end. Created by [`Plan::mermaid`].
///
/// Each step is a node such as `s2_1`, labelled with its path, description and result. Its class is
/// its status: `pending`, `done` or `verification_needed`. Solid arrows lead from a step to the
/// next one with the same parent, dotted arrows from a step to its first sub-step.
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let chart = Plan::from(vec![Step::done("Add", "7"), Step::pending("Conclude")]).mermaid().to_string();
/// assert!(chart.starts_with("flowchart TD\n    s1[\"1 Add: 7\"]:::done\n"));
/// assert!(chart.contains("s1 --> s2"));
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct PlanMermaid<'a> {
    plan: &'a Plan,
}

impl Plan {
    /// Returns the plan as a Mermaid flowchart.
    pub fn mermaid(&self) -> PlanMermaid<'_> {
        PlanMermaid::new(self)
    }
}

impl<'a> PlanMermaid<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self { plan }
    }
}

impl fmt::Display for PlanMermaid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("flowchart TD\n")?;
        for entry in self.plan.walk() {
            let step = entry.step;
            let path = entry.path();
            let indices = path.indices();
            let label = format_args!("{path} {}", StepLine(step));
            let class = class(step.status);

            writeln!(
                f,
                "    {}[\"{}\"]:::{class}",
                // Paths are unique, and descriptions needn't be.
                Node(indices),
                MermaidLabel(label)
            )?;

            if let Some((last, parents)) = indices.split_last() {
                match (*last, parents) {
                    // The first step of all follows nothing.
                    (1, []) => {}
                    // A dotted line leads into the sub-steps, so that it isn't taken for the order
                    // of steps.
                    (1, parents) => writeln!(f, "    {} -.-> {}", Node(parents), Node(indices))?,
                    (_, parents) => {
                        // The step before it on the same level, whatever is below that.
                        let before: Vec<usize> =
                            parents.iter().copied().chain([last - 1]).collect();
                        writeln!(f, "    {} --> {}", Node(&before), Node(indices))?;
                    }
                }
            }
        }

        f.write_str(
            "    classDef pending stroke-dasharray:4\n    \
             classDef done fill:#d3f2d9,stroke:#2e7d32,color:#000\n    \
             classDef verification_needed fill:#fff3cd,stroke:#b26a00,color:#000",
        )
    }
}

/// The name of a node, such as `s2_1`. Without the `s`, it would be a number, which Mermaid treats
/// differently.
struct Node<'a>(&'a [usize]);

impl fmt::Display for Node<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // So that no id is a mere number.
        f.write_str("s")?;
        self.0.iter().enumerate().try_for_each(|(level, index)| {
            let joint = if level == 0 { "" } else { "_" };
            write!(f, "{joint}{index}")
        })
    }
}

fn class(status: Status) -> &'static str {
    match status {
        Status::Pending => "pending",
        Status::Done => "done",
        Status::VerificationNeeded => "verification_needed",
    }
}
