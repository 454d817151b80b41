//! One turn: evaluates the plan of the last thought, then does the next step.

use cogwork_plan::{Plan, Status, Step};

use crate::arithmetic::{Calculation, Number, Operation, text};
use crate::problem::Problem;

/// How to ask a real model instead of this backend.
const NAMING: &str =
    "To ask a real model, set OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY where needed).";

pub(crate) const CHECK: &str = "Check the result";

/// The plan of the last turn, and the number of the thought that made it.
pub(crate) struct Last {
    pub(crate) plan: Plan,
    pub(crate) thought: usize,
}

/// A turn, before it is written as a reply.
pub(crate) struct Turn {
    pub(crate) thinking: String,
    pub(crate) plan: Plan,
    pub(crate) next_thought_needed: bool,
}

/// A step without sub-steps, with its right result.
struct Task {
    number: String,
    description: String,
    result: Option<String>,
    slip: Option<Slip>,
}

/// The wrong result of a first attempt.
struct Slip {
    result: String,
    reason: &'static str,
}

impl Task {
    fn new(number: impl ToString, description: &str, result: impl Into<String>) -> Self {
        Self {
            number: number.to_string(),
            description: description.to_owned(),
            result: Some(result.into()),
            slip: None,
        }
    }
}

/// What a problem needs from its first thought to its conclusion. It is made anew each turn, so that
/// the backend keeps nothing between turns.
struct Work {
    tasks: Vec<Task>,
    /// The description of the step whose sub-steps are the operations.
    whole: Option<String>,
    opening: String,
    solution: String,
}

/// Works out the next turn from the problem and the last plan.
pub(crate) fn turn(problem: &str, last: Option<Last>) -> Turn {
    let work = match Problem::read(problem) {
        Ok(problem) => Work::solving(&problem),
        Err(why) => Work::refusing(&why),
    };

    match last {
        Some(last) if work.fits(&last.plan) => work.later(last),
        Some(last) => work.first(&format!(
            "{}its plan isn't one that I can follow for this problem, so I make a new one.\n",
            evaluation(last.thought)
        )),
        None => work.first(""),
    }
}

impl Work {
    fn solving(problem: &Problem) -> Self {
        let Calculation {
            text: expression,
            value,
            rounded,
            operations,
        } = &problem.calculation;
        let value = text(*value);

        let (understood, answer, solution) = if problem.is_distance {
            (
                format!("distance = speed * time, here {expression}"),
                format!("{value} km"),
                format!("The distance is {value} km: {expression} = {value}."),
            )
        } else {
            let solution = format!("{expression} = {value}.");
            (expression.clone(), value.clone(), solution)
        };

        let check = format!(
            "Worked out again in one go, with rounded decimals, it comes to {} as well",
            (rounded * 1e6).round() / 1e6
        );

        let opening = format!(
            "The problem asks for {understood}. My plan: work it out step by step, check the result, conclude.\n\
             I am a rule-based stand-in and no language model. I make one mistake on purpose, for a later thought to \
             find and repair.\n{NAMING}"
        );

        let mut tasks = vec![Task::new(1, "Understand the problem", understood)];
        // The operation in the middle comes out wrong at first.
        let wrong = operations.len() / 2;
        for (index, operation) in operations.iter().enumerate() {
            let Operation {
                description,
                working,
                value,
            } = operation;
            let result = format!("{working} = {}", text(*value));
            tasks.push(Task {
                slip: (index == wrong).then(|| slip(working, *value)),
                ..Task::new(format!("2.{}", index + 1), description, result)
            });
        }
        tasks.push(Task::new(3, CHECK, check));
        tasks.push(Task::new(4, "Conclusion", answer));

        Self {
            tasks,
            whole: Some(format!("Work out {expression}")),
            opening,
            solution,
        }
    }

    fn refusing(why: &str) -> Self {
        let understood = format!("not understood: {why}");
        let conclusion = Task {
            result: None,
            ..Task::new(2, "Conclusion", "")
        };

        Self {
            tasks: vec![
                Task::new(1, "Understand the problem", understood),
                conclusion,
            ],
            whole: None,
            opening: format!(
                "I cannot read this problem: {why}. My plan: conclude at once.\n\
                 I am a rule-based stand-in and no language model.\n{NAMING}"
            ),
            solution: format!(
                "I cannot answer this problem: {why}. I read expressions such as (17 + 4) * 3 or 15% of 80, and how far \
                 something goes at its speed.\n{NAMING}"
            ),
        }
    }

    /// Makes the plan, and understands the problem.
    fn first(&self, evaluation: &str) -> Turn {
        let mut steps: Vec<Step> = self
            .tasks
            .iter()
            .map(|task| Step::pending(task.description.as_str()))
            .collect();
        if let (Some(step), Some(task)) = (steps.first_mut(), self.tasks.first()) {
            finish(step, task.result.clone());
        }

        Turn {
            thinking: format!("{evaluation}{}", self.opening),
            plan: self.plan(steps),
            next_thought_needed: true,
        }
    }

    fn later(&self, last: Last) -> Turn {
        let mut steps = leaves(&last.plan);
        let evaluation = evaluation(last.thought);
        let mistake = self.tasks.iter().zip(&mut steps).find_map(|(task, step)| {
            let mistake = mistake(task, step)?;
            step.status = Status::VerificationNeeded;
            step.mark = Some(mistake.clone());
            Some(format!("Step {}: {mistake}.", task.number))
        });

        if let Some(mistake) = mistake {
            return Turn {
                thinking: format!(
                    "{evaluation}there is a mistake. {mistake}\nI mark it and do it again in the next thought."
                ),
                plan: self.plan(steps),
                next_thought_needed: true,
            };
        }

        let next = steps.iter().position(|step| step.status != Status::Done);
        let next = next.unwrap_or(steps.len().saturating_sub(1));
        let before = steps.get(next.saturating_sub(1)).cloned();
        let (Some(task), Some(step)) = (self.tasks.get(next), steps.get_mut(next)) else {
            return self.first("");
        };

        let is_repaired = step.status == Status::VerificationNeeded;
        let slip = task.slip.as_ref().filter(|_| !is_repaired);
        let result = slip.map(|slip| slip.result.clone());
        finish(step, result.or_else(|| task.result.clone()));

        let appraisal = match before {
            _ if is_repaired => "it was right to mark the mistake.".to_owned(),
            Some(before) if next > 1 => {
                format!("{} is correct.", before.result.unwrap_or_default())
            }
            _ => "the problem is understood.".to_owned(),
        };

        let is_last = next + 1 == self.tasks.len();
        let thinking = if is_last {
            self.solution.clone()
        } else {
            let again = if is_repaired { ", once more" } else { "" };
            format!(
                "{evaluation}{appraisal}\nStep {}{again}: {}. {}.",
                task.number,
                task.description,
                step.result.as_deref().unwrap_or_default()
            )
        };

        Turn {
            thinking,
            plan: self.plan(steps),
            next_thought_needed: !is_last,
        }
    }

    /// Puts the operations under the step that they are part of, which is done when they are.
    fn plan(&self, mut steps: Vec<Step>) -> Plan {
        let Some(whole) = &self.whole else {
            return steps.into();
        };

        let last = steps.split_off(steps.len().saturating_sub(2));
        let operations = steps.split_off(1);
        let is_done = operations.iter().all(|step| step.status == Status::Done);
        let result = operations.last().and_then(|last| last.result.as_deref());
        let whole = match result.and_then(|result| result.rsplit(" = ").next()) {
            Some(value) if is_done => Step::done(whole.as_str(), value),
            _ => Step::pending(whole.as_str()),
        };

        steps.push(whole.with_sub_steps(operations));
        steps.extend(last);
        steps.into()
    }

    /// Returns whether the plan has the steps of this problem.
    fn fits(&self, plan: &Plan) -> bool {
        let tasks = self.tasks.iter().map(|task| task.description.as_str());
        let steps = leaves(plan);
        tasks.eq(steps.iter().map(|step| step.description.trim()))
    }
}

fn evaluation(thought: usize) -> String {
    format!("Evaluation of thought {thought}: ")
}

/// Returns a result as people get it wrong.
fn slip(working: &str, right: Number) -> Slip {
    let ten = Number::from(10);
    let (wrong, reason) = if right.is_integer() && right >= ten {
        (right - ten, "a carry was dropped")
    } else {
        (right + 1, "it is one too many")
    };
    Slip {
        result: format!("{working} = {}", text(wrong)),
        reason,
    }
}

/// Returns what is wrong with the result of a step.
fn mistake(task: &Task, step: &Step) -> Option<String> {
    let right = task.result.as_deref()?;
    let result = step.result.as_deref().unwrap_or_default().trim();
    if step.status != Status::Done || result == right {
        return None;
    }

    let given = result.rsplit(" = ").next().unwrap_or(result);
    let right = right.replacen(" = ", " is ", 1);
    let slip = task.slip.as_ref().filter(|slip| slip.result == result);
    let reason = slip.map(|slip| format!(", {}", slip.reason));
    Some(format!(
        "{right}, not {given}{}",
        reason.unwrap_or_default()
    ))
}

/// Returns the steps without sub-steps, in order.
fn leaves(plan: &Plan) -> Vec<Step> {
    let steps = plan.walk().map(|entry| entry.step);
    steps
        .filter(|step| step.sub_steps.is_empty())
        .cloned()
        .collect()
}

fn finish(step: &mut Step, result: Option<String>) {
    step.status = Status::Done;
    step.result = result;
    step.mark = None;
}
