use std::fmt;

use anstyle::{AnsiColor, Style};

use crate::text::{StepLine, indent};
use crate::{Plan, Status};

/// A human-readable outline of a plan: `- [Done] description: result (mark)`, indented by two
/// spaces per level, without a line break at the end. Every step is on one line. Created by
/// [`Plan::outline`].
///
/// ```
/// use cogwork_plan::{Plan, Step};
///
/// let plan = Plan::from(vec![Step::pending("Multiply").with_sub_steps([Step::done("Tens", "600")])]);
/// assert_eq!(plan.outline().to_string(), "- [Pending] Multiply\n  - [Done] Tens: 600");
/// ```
#[derive(Debug, Clone, Copy)]
#[must_use]
pub struct Outline<'a> {
    plan: &'a Plan,
    colored: bool,
}

impl Plan {
    /// Returns a human-readable outline with one line per step: `- [Done] description: result
    /// (mark)`.
    pub fn outline(&self) -> Outline<'_> {
        Outline::new(self)
    }
}

impl<'a> Outline<'a> {
    pub(crate) fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            colored: false,
        }
    }

    /// Sets whether the status is coloured with ANSI codes, for terminals.
    ///
    /// # Default
    ///
    /// `false`.
    pub fn with_colors(self, colored: bool) -> Self {
        Self { colored, ..self }
    }
}

impl fmt::Display for Outline<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, entry) in self.plan.walk().enumerate() {
            if number > 0 {
                f.write_str("\n")?;
            }

            let step = entry.step;
            // An empty style writes nothing, so the line below is the same for both.
            let style = if self.colored {
                style(step.status)
            } else {
                Style::new()
            };

            indent(f, entry.depth - 1)?;
            write!(f, "- {style}[{}]{style:#} {}", step.status, StepLine(step))?;
        }

        Ok(())
    }
}

fn style(status: Status) -> Style {
    match status {
        Status::Pending => Style::new().dimmed(),
        Status::Done => AnsiColor::Green.on_default(),
        Status::VerificationNeeded => AnsiColor::Yellow.on_default(),
    }
}

/// Returns the outline of a plan as text. [`Plan::outline`] writes the same without an allocation.
pub fn format_plan(plan: &Plan) -> String {
    plan.outline().to_string()
}
