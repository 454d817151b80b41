//! The steps that work out an expression: one an operation while there are few, one a group of
//! operations where there are many.

use super::evaluate::evaluate;
use super::expression::{Expr, Op};
use super::number::value_text;
use super::planning::{Task, TaskKind};

/// The most steps that work out operations. With understanding, one correction (two turns),
/// check and conclusion a run so takes at most 12 turns.
const MAX_STEPS: usize = 7;

/// An operand of up to this many characters is shown in a description as it is, a longer one as
/// the step that works it out.
const MAX_QUOTED: usize = 30;

/// The whole expression as one step, with sub-steps unless one operation is all there is.
pub(super) fn task(expr: &Expr) -> Task {
    let operations = expr.operations();

    // Each step but the last takes at least `size` operations, so there are at most MAX_STEPS.
    let size = if operations <= MAX_STEPS {
        1
    } else {
        operations.div_ceil(MAX_STEPS - 1)
    };

    let mut tasks = Vec::new();
    let last = reduce(expr, size, "2", &mut tasks).task();
    if tasks.is_empty() {
        return last;
    }

    tasks.push(last);
    group(expr, tasks)
}

/// An expression in which what earlier steps work out is replaced.
struct Reduced {
    /// By its name, for the description.
    described: Expr,
    /// By its value, for the result.
    working: Expr,
    /// How many operations are left.
    operations: usize,
}

/// Walks the operations in the order in which they are worked out, and makes a step of what has
/// gathered whenever it reaches `size`. The last ones are left for the caller's step.
fn reduce(expr: &Expr, size: usize, path: &str, tasks: &mut Vec<Task>) -> Reduced {
    match expr {
        Expr::Number(_) | Expr::Named { .. } => Reduced {
            described: expr.clone(),
            working: expr.clone(),
            operations: 0,
        },
        Expr::Negate(inner) => reduce(inner, size, path, tasks).wrapped(Expr::Negate),
        Expr::Percent(inner) => reduce(inner, size, path, tasks).wrapped(Expr::Percent),
        Expr::Binary(op, left, right) => {
            let left = operand(left, left.needs_parentheses(*op, false), size, path, tasks);
            let right = operand(right, right.needs_parentheses(*op, true), size, path, tasks);
            Reduced {
                described: Expr::binary(*op, left.described, right.described),
                working: Expr::binary(*op, left.working, right.working),
                operations: left.operations + 1 + right.operations,
            }
        }
    }
}

/// One operand. An expression in parentheses that takes several steps becomes a nested group.
fn operand(
    expr: &Expr,
    in_parentheses: bool,
    size: usize,
    path: &str,
    tasks: &mut Vec<Task>,
) -> Reduced {
    if size == 1 && in_parentheses && expr.operations() > 1 {
        let path = format!("{path}.{}", tasks.len() + 1);
        let mut sub_tasks = Vec::new();
        let last = reduce(expr, size, &path, &mut sub_tasks).task();
        sub_tasks.push(last);
        tasks.push(group(expr, sub_tasks));
        return Reduced::solved(expr, &path);
    }

    let reduced = reduce(expr, size, path, tasks);
    if reduced.operations < size {
        return reduced;
    }

    tasks.push(reduced.task());
    Reduced::solved(expr, &format!("{path}.{}", tasks.len()))
}

impl Reduced {
    fn wrapped(self, wrap: fn(Box<Expr>) -> Expr) -> Self {
        Self {
            described: wrap(self.described.into()),
            working: wrap(self.working.into()),
            operations: self.operations,
        }
    }

    /// What the step at `path` works out.
    fn solved(expr: &Expr, path: &str) -> Self {
        let outcome = evaluate(expr);
        let text = expr.to_string();
        let name = if text.chars().count() <= MAX_QUOTED {
            text
        } else {
            format!("step {path}")
        };

        let described = Expr::Named {
            name,
            outcome: outcome.clone(),
        };
        let working = outcome.map_or_else(|_| described.clone(), |value| Expr::from_value(&value));
        Self {
            described,
            working,
            operations: 0,
        }
    }

    fn task(&self) -> Task {
        let Self {
            described, working, ..
        } = self;
        let outcome = evaluate(working);
        let right = match &outcome {
            Ok(value) => format!("{working} = {}", value_text(value)),
            Err(failure) => format!("{working} {failure}"),
        };
        let description = match described {
            Expr::Binary(op, left, right) if self.operations == 1 => match op {
                Op::Add => format!("Add {left} and {right}"),
                Op::Subtract => format!("Subtract {right} from {left}"),
                Op::Multiply => format!("Multiply {left} by {right}"),
                Op::Divide => format!("Divide {left} by {right}"),
                Op::Of => format!("Take {left} of {right}"),
                Op::Power => format!("Raise {left} to the power {right}"),
            },
            _ => format!("Work out {described}"),
        };

        Task::new(
            TaskKind::Operation {
                working: working.clone(),
                outcome,
            },
            description,
            right,
        )
    }
}

fn group(expr: &Expr, sub_tasks: Vec<Task>) -> Task {
    let text = expr.to_string();
    let fits = text.chars().count() <= 2 * MAX_QUOTED;
    let description = if fits {
        format!("Work out {text}")
    } else {
        "Work out the whole, part by part".to_owned()
    };

    let right = evaluate(expr).map_or_else(|_| "no value".to_owned(), |value| value_text(&value));
    Task {
        sub_tasks,
        ..Task::new(TaskKind::Group, description, right)
    }
}
