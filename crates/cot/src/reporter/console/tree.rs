//! A plan as a tree.

use cogwork_plan::{Plan, Status, Step};
use cogwork_text::OneLine;

use super::styles::Styles;
use super::wrap::Styled;

/// Returns the lines of a plan. A wrapped step continues below its text, next to the guides of the
/// tree.
pub(super) fn lines(plan: &Plan, styles: Styles, width: Option<usize>) -> Vec<String> {
    let mut lines = Vec::new();
    let mut tree = Tree::new(plan);

    for entry in plan.walk() {
        let branch = tree.enter(entry.depth, entry.step);
        let (sign, text) = step(entry.step, styles);

        let columns = branch.columns() + SIGN_COLUMNS;
        let wrapped = text.lines(width.map(|width| width.saturating_sub(columns)));
        let faint = styles.faint;

        for (index, line) in wrapped.iter().enumerate() {
            if index == 0 {
                lines.push(format!("{faint}{}{faint:#}{sign} {line}", branch.first));
            } else {
                lines.push(format!("{faint}{}{faint:#}{line}", branch.next));
            }
        }
    }

    lines
}

/// The columns of the sign of a step and of the space after it.
const SIGN_COLUMNS: usize = 2;

/// The place in the tree.
struct Tree {
    /// For each level, whether it has more steps below, and so needs a guide.
    guides: Vec<bool>,
    /// For each level, the number of steps left.
    left: Vec<usize>,
}

/// The guides before the lines of a step.
struct Branch {
    first: String,
    next: String,
}

impl Branch {
    fn columns(&self) -> usize {
        self.first.chars().count()
    }
}

impl Tree {
    fn new(plan: &Plan) -> Self {
        Self {
            guides: Vec::new(),
            left: vec![plan.steps().len()],
        }
    }

    fn enter(&mut self, depth: usize, step: &Step) -> Branch {
        self.left.truncate(depth);
        self.guides.truncate(depth.saturating_sub(1));
        let is_last = self.take_step();

        let guides: String = self.guides.iter().map(|more| guide(*more)).collect();
        let first = if is_last { "└─ " } else { "├─ " };
        let below = if step.sub_steps.is_empty() {
            "  "
        } else {
            "│ "
        };
        let next = guide(!is_last);

        self.guides.push(!is_last);
        self.left.push(step.sub_steps.len());

        Branch {
            first: format!("{guides}{first}"),
            next: format!("{guides}{next}{below}"),
        }
    }

    /// Counts a step of the innermost level. Returns whether it is the last.
    fn take_step(&mut self) -> bool {
        let Some(left) = self.left.last_mut() else {
            return true;
        };

        *left = left.saturating_sub(1);
        *left == 0
    }
}

fn guide(more: bool) -> &'static str {
    if more { "│  " } else { "   " }
}

/// Returns the sign and the text of a step.
fn step(step: &Step, styles: Styles) -> (String, Styled) {
    let (style, sign) = match step.status {
        Status::Done => (styles.good, "✓"),
        Status::Pending => (styles.faint, "·"),
        Status::VerificationNeeded => (styles.warning, "?"),
    };
    let plain = anstyle::Style::new();

    let mut text = Styled::default();
    text.push(plain, &OneLine::new(&step.description).to_string());

    if let Some(result) = &step.result {
        text.push(plain, ": ");
        text.push(style, &OneLine::new(result).to_string());
    }

    if let Some(mark) = &step.mark {
        text.push(plain, " ");
        text.push(style, &format!("({})", OneLine::new(mark)));
    }

    (format!("{style}{sign}{style:#}"), text)
}
