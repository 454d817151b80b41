//! From a problem as it was read to the steps that solve it, each with its right result.
//!
//! Everything is worked out anew from the problem each turn: so a turn can evaluate any plan
//! it is handed, and the backend keeps nothing between turns.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};

use super::evaluate::{Outcome, check_in_decimals, evaluate};
use super::expression::{Expr, Op};
use super::number::{rounded_text, value_text};
use super::operations;
use super::words::{Reading, Unreadable};
use super::writing;

/// A step as it should be.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Task {
    pub(super) description: String,
    pub(super) kind: TaskKind,
    /// The right result. It is empty for the conclusion about a problem that was not read.
    pub(super) right: String,
    /// The wrong result of a first attempt, on the one step that makes a mistake on purpose.
    pub(super) slip: Option<String>,
    pub(super) sub_tasks: Vec<Task>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum TaskKind {
    Understand,
    /// Computes one or more operations. Returns what replaces them, and the value.
    Operation {
        working: Expr,
        outcome: Outcome,
    },
    /// Closes when its sub-tasks are done, with the result of the last.
    Group,
    Check,
    Conclude,
}

impl Task {
    pub(super) fn new(
        kind: TaskKind,
        description: impl Into<String>,
        right: impl Into<String>,
    ) -> Self {
        Self {
            description: description.into(),
            kind,
            right: right.into(),
            slip: None,
            sub_tasks: Vec::new(),
        }
    }

    /// Whether this is where it turns out that there is no value.
    pub(super) fn fails(&self) -> bool {
        matches!(
            self.kind,
            TaskKind::Operation {
                outcome: Err(_),
                ..
            }
        )
    }

    /// Whether it, or a part of it, makes the mistake on purpose.
    pub(super) fn slips(&self) -> bool {
        self.slip.is_some() || self.sub_tasks.iter().any(Self::slips)
    }
}

/// The steps for a problem.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Blueprint {
    pub(super) tasks: Vec<Task>,
    /// What the first thought says about the problem.
    pub(super) opening: String,
    /// The solution, as people read it.
    pub(super) conclusion: String,
}

impl Blueprint {
    /// The steps for a problem, or the two steps of a refusal.
    pub(super) fn new(reading: &Result<Reading, Unreadable>) -> Self {
        match reading {
            Ok(reading) => Self::solving(reading),
            Err(why) => Self {
                tasks: vec![
                    Task::new(
                        TaskKind::Understand,
                        UNDERSTAND,
                        format!("not understood: {why}"),
                    ),
                    Task::new(TaskKind::Conclude, CONCLUDE, ""),
                ],
                opening: format!("I cannot read this problem: {why}."),
                conclusion: writing::refusal(why),
            },
        }
    }

    fn solving(reading: &Reading) -> Self {
        let expr = &reading.expression;
        let outcome = evaluate(expr);
        let understood = match reading.rule {
            Some(rule) => format!("{rule}, here {expr}"),
            None => expr.to_string(),
        };
        let opening = format!("The problem asks for {understood}.");
        let mut tasks = vec![Task::new(TaskKind::Understand, UNDERSTAND, understood)];

        if expr.operations() > 0 {
            tasks.push(operations::task(expr));
            slip_once(&mut tasks);
            tasks.push(Task::new(TaskKind::Check, CHECK, check(expr, &outcome)));
        }

        tasks.push(Task::new(
            TaskKind::Conclude,
            CONCLUDE,
            writing::answer(reading, &outcome),
        ));

        Self {
            tasks,
            opening,
            conclusion: writing::solution(reading, &outcome),
        }
    }

    /// The steps left once an operation turned out to have no value: nothing after it can be
    /// worked out or checked. `None` where every operation has one.
    pub(super) fn cut_short(&self) -> Option<Self> {
        let mut short = self.clone();
        short.tasks.retain(|task| task.kind != TaskKind::Check);
        cut_after_failure(&mut short.tasks).then_some(short)
    }
}

const UNDERSTAND: &str = "Understand the problem";
pub(super) const CHECK: &str = "Check the result";
const CONCLUDE: &str = "Conclusion";

/// Removes the operations after the first one that fails; says whether one does.
fn cut_after_failure(tasks: &mut Vec<Task>) -> bool {
    let Some(failing) = tasks
        .iter_mut()
        .position(|task| task.fails() || cut_after_failure(&mut task.sub_tasks))
    else {
        return false;
    };

    let mut index = 0;
    tasks.retain(|task| {
        index += 1;
        index <= failing + 1 || !matches!(task.kind, TaskKind::Operation { .. } | TaskKind::Group)
    });
    true
}

/// Gives the operation in the middle, of those before any failure, its wrong first attempt.
fn slip_once(tasks: &mut [Task]) {
    let mut operations = Vec::new();
    collect_operations(tasks, &mut operations);
    let sound = operations.iter().take_while(|task| !task.fails()).count();

    if sound == 0 {
        return;
    }

    if let Some(task) = operations.get_mut(sound / 2)
        && let TaskKind::Operation {
            working,
            outcome: Ok(right),
        } = &task.kind
    {
        task.slip = Some(format!("{working} = {}", value_text(&slip(working, right))));
    }
}

fn collect_operations<'a>(tasks: &'a mut [Task], operations: &mut Vec<&'a mut Task>) {
    for task in tasks {
        match task.kind {
            TaskKind::Operation { .. } => operations.push(task),
            _ => collect_operations(&mut task.sub_tasks, operations),
        }
    }
}

/// A slip as people make them: a sign lost in a subtraction, a dropped carry, one too many.
fn slip(working: &Expr, right: &BigRational) -> BigRational {
    let ten = BigRational::from(BigInt::from(10));
    if matches!(working, Expr::Binary(Op::Subtract, ..)) && !right.is_zero() {
        -right
    } else if right.is_integer() && right.abs() >= ten {
        right - ten * right.signum()
    } else {
        right + BigRational::one()
    }
}

/// What distinguishes a slip, when it is one of those above.
pub(super) fn diagnosis(given: &BigRational, right: &BigRational) -> &'static str {
    if *given == -right {
        ", a sign was lost"
    } else if (given - right).abs() == BigRational::from(BigInt::from(10)) {
        ", a carry was dropped"
    } else {
        ""
    }
}

/// The result of the check, done by another way than the steps.
fn check(expr: &Expr, outcome: &Outcome) -> String {
    match outcome {
        Err(failure) => format!("{expr} {failure}"),
        Ok(value) => match check_in_decimals(expr, value) {
            Some(again) => format!(
                "Worked out again in one go, with rounded decimals, it comes to {} as well",
                rounded_text(again)
            ),
            None => format!(
                "Worked out again in one go, it comes to {} as well",
                value_text(value)
            ),
        },
    }
}
