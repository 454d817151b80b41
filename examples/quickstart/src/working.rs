//! One turn: evaluate the plan that was handed in, then do the next step.

use cogwork_plan::{Plan, Status, Step};

use super::number::{value_at_end, value_text};
use super::planning::{Blueprint, Task, TaskKind, diagnosis};
use super::words;
use super::writing::{EVALUATION, Turn, notice};

/// The plan of the last turn, and the number of the thought that made it.
pub(super) struct Last {
    /// `None`: there is one, and it cannot be read.
    pub(super) plan: Option<Plan>,
    pub(super) thought: usize,
}

/// Works out the next turn from the problem and the last plan alone.
pub(super) fn turn(problem: &str, last: Option<Last>) -> Turn {
    let blueprint = Blueprint::new(&words::read(problem));
    let Some(Last { plan, thought }) = last else {
        return first(&blueprint, "");
    };

    let known = plan.and_then(|plan| {
        let short = blueprint
            .cut_short()
            .filter(|short| matches(&short.tasks, plan.steps()));
        if short.is_some() || matches(&blueprint.tasks, plan.steps()) {
            Some((plan, short))
        } else {
            None
        }
    });

    match known {
        Some((plan, Some(short))) => later(&short, plan.into_steps(), thought),
        Some((plan, None)) => later(&blueprint, plan.into_steps(), thought),
        None => first(
            &blueprint,
            &format!(
                "{EVALUATION}{thought}: its plan is none that I can follow for this problem, so I start a new one.\n"
            ),
        ),
    }
}

/// The first thought makes the plan, with the problem understood. It is also the first after a plan
/// from elsewhere, whose reader has not met this backend yet.
fn first(blueprint: &Blueprint, evaluation: &str) -> Turn {
    let mut steps: Vec<Step> = blueprint.tasks.iter().map(pending).collect();
    if let (Some(task), Some(step)) = (blueprint.tasks.first(), steps.first_mut()) {
        finish(step, &task.right);
    }

    let notice = notice(blueprint.tasks.iter().any(Task::slips));
    let thinking = format!(
        "{evaluation}{} {}\n{notice}",
        blueprint.opening,
        outlook(&blueprint.tasks)
    );

    Turn {
        thinking,
        plan: steps.into(),
        next_thought_needed: true,
    }
}

fn outlook(tasks: &[Task]) -> &'static str {
    if tasks.iter().any(|task| task.kind == TaskKind::Check) {
        "My plan: work it out step by step, check the result, conclude."
    } else {
        "My plan: conclude at once."
    }
}

fn later(blueprint: &Blueprint, mut steps: Vec<Step>, thought: usize) -> Turn {
    let tasks = &blueprint.tasks;
    let mut faults = Vec::new();
    evaluate_steps(tasks, &mut steps, "", &mut faults);

    if !faults.is_empty() {
        let thinking = format!(
            "{EVALUATION}{thought}: there is a mistake. {}\nI mark it and do it again in the next thought.",
            faults.join(" ")
        );
        return Turn {
            thinking,
            plan: steps.into(),
            next_thought_needed: true,
        };
    }

    close_groups(&mut steps);
    let evaluation = appraisal(tasks, &steps);

    let path = find(&steps, Status::VerificationNeeded)
        .or_else(|| find(&steps, Status::Pending))
        .unwrap_or_default();

    // Every list of tasks ends with a conclusion, and `evaluate_steps` leaves that one open.
    let Some((task, step)) = at(tasks, &mut steps, &path) else {
        return concluded(blueprint, steps);
    };

    let again = step.status == Status::VerificationNeeded;
    finish(
        step,
        task.slip.as_ref().filter(|_| !again).unwrap_or(&task.right),
    );
    let result = step.result.as_deref().unwrap_or_default();
    let done = format!(
        "{}: {}. {result}.",
        numbered(&path, again),
        task.description
    );

    let mut thinking = format!("{EVALUATION}{thought}: {evaluation}\n{done}");
    if task.kind == TaskKind::Conclude {
        return concluded(blueprint, steps);
    }

    if task.fails()
        && let Some(short) = blueprint.cut_short()
        && short.tasks != *tasks
    {
        thinking.push_str(
            "\nNothing that builds on it can be worked out, so I take the steps after it out of the plan.",
        );
        steps = short.tasks.iter().map(done_but_conclusion).collect();
    }

    close_groups(&mut steps);
    Turn {
        thinking,
        plan: steps.into(),
        next_thought_needed: true,
    }
}

fn concluded(blueprint: &Blueprint, steps: Vec<Step>) -> Turn {
    Turn {
        thinking: blueprint.conclusion.clone(),
        plan: steps.into(),
        next_thought_needed: false,
    }
}

fn numbered(path: &[usize], again: bool) -> String {
    let numbers: Vec<String> = path.iter().map(|index| (index + 1).to_string()).collect();
    format!(
        "Step {}{}",
        numbers.join("."),
        if again { ", once more" } else { "" }
    )
}

/// Whether the steps are those of the tasks, in whatever status.
fn matches(tasks: &[Task], steps: &[Step]) -> bool {
    tasks.len() == steps.len()
        && tasks.iter().zip(steps).all(|(task, step)| {
            task.description == step.description.trim() && matches(&task.sub_tasks, &step.sub_steps)
        })
}

/// Recomputes every step that is done. A wrong one is marked, with the reason, and what was
/// concluded from it reopened. What the statuses do not allow (a result on a pending step, a
/// parent done before its sub-steps) is put right in silence. Says whether all are done.
fn evaluate_steps(
    tasks: &[Task],
    steps: &mut [Step],
    parent: &str,
    faults: &mut Vec<String>,
) -> bool {
    let mut all_done = true;
    for (index, (task, step)) in tasks.iter().zip(steps.iter_mut()).enumerate() {
        let path = format!("{parent}{}", index + 1);
        let parts_done = evaluate_steps(
            &task.sub_tasks,
            &mut step.sub_steps,
            &format!("{path}."),
            faults,
        );

        if step.status == Status::Pending || !parts_done || task.kind == TaskKind::Conclude {
            (step.status, step.result, step.mark) = (Status::Pending, None, None);
        } else if step.status == Status::Done
            && let Some(fault) = fault(task, step.result.as_deref().unwrap_or_default().trim())
        {
            faults.push(format!("Step {path}: {fault}."));
            (step.status, step.mark) = (Status::VerificationNeeded, Some(fault));
        }

        all_done &= step.status == Status::Done;
    }

    all_done
}

/// What is wrong with a result, if anything.
fn fault(task: &Task, result: &str) -> Option<String> {
    let right = &task.right;
    if result == right {
        return None;
    }

    if result.is_empty() {
        return Some(format!("no result is written down, and it is {right}"));
    }

    let given = value_at_end(result);
    Some(match (&task.kind, given) {
        (
            TaskKind::Operation {
                outcome: Ok(value), ..
            },
            _,
        ) if result == value_text(value) => return None,
        (
            TaskKind::Operation {
                working,
                outcome: Ok(value),
            },
            Some(given),
        ) if given != *value => {
            format!(
                "{working} is {}, not {}{}",
                value_text(value),
                value_text(&given),
                diagnosis(&given, value)
            )
        }
        (
            TaskKind::Operation {
                outcome: Err(_), ..
            },
            _,
        ) => right.clone(),
        (TaskKind::Group, _) => format!("the sub-steps give {right}"),
        (TaskKind::Understand, _) => format!("the problem says {right}"),
        _ => format!("the result is {right}"),
    })
}

/// Closes every parent whose sub-steps are all done, with what the last of them came to.
fn close_groups(steps: &mut [Step]) {
    for step in steps {
        close_groups(&mut step.sub_steps);
        let last = step
            .sub_steps
            .last()
            .and_then(|last| last.result.as_deref());
        if let Some(last) = last
            && step.status == Status::Pending
            && step
                .sub_steps
                .iter()
                .all(|part| part.status == Status::Done)
        {
            let value = last.rsplit(" = ").next().unwrap_or(last).to_owned();
            finish(step, &value);
        }
    }
}

/// How right the last thought was, given that no step that is done is wrong.
fn appraisal(tasks: &[Task], steps: &[Step]) -> String {
    if find(steps, Status::VerificationNeeded).is_some() {
        return "it was right to mark the mistake.".to_owned();
    }

    let mut leaves = Vec::new();
    collect_leaves(tasks, steps, &mut leaves);
    match leaves
        .into_iter()
        .take_while(|(_, step)| step.status == Status::Done)
        .last()
    {
        Some((task, step)) if matches!(task.kind, TaskKind::Operation { .. }) => {
            format!("{} is correct.", step.result.as_deref().unwrap_or_default())
        }
        _ => "the problem is understood.".to_owned(),
    }
}

fn collect_leaves<'a>(
    tasks: &'a [Task],
    steps: &'a [Step],
    leaves: &mut Vec<(&'a Task, &'a Step)>,
) {
    for (task, step) in tasks.iter().zip(steps) {
        collect_leaves(&task.sub_tasks, &step.sub_steps, leaves);
        if task.sub_tasks.is_empty() {
            leaves.push((task, step));
        }
    }
}

/// The first step in this status, sub-steps before their parent: positions from the top level down.
fn find(steps: &[Step], status: Status) -> Option<Vec<usize>> {
    steps.iter().enumerate().find_map(|(index, step)| {
        let below =
            find(&step.sub_steps, status).or_else(|| (step.status == status).then(Vec::new))?;
        Some(std::iter::once(index).chain(below).collect())
    })
}

fn at<'a>(
    tasks: &'a [Task],
    steps: &'a mut [Step],
    path: &[usize],
) -> Option<(&'a Task, &'a mut Step)> {
    let (&index, below) = path.split_first()?;
    let task = tasks.get(index)?;
    let step = steps.get_mut(index)?;
    if below.is_empty() {
        Some((task, step))
    } else {
        at(&task.sub_tasks, &mut step.sub_steps, below)
    }
}

fn pending(task: &Task) -> Step {
    Step::pending(task.description.as_str()).with_sub_steps(task.sub_tasks.iter().map(pending))
}

fn done_but_conclusion(task: &Task) -> Step {
    if task.kind == TaskKind::Conclude {
        return pending(task);
    }
    Step::done(task.description.as_str(), task.right.as_str())
        .with_sub_steps(task.sub_tasks.iter().map(done_but_conclusion))
}

fn finish(step: &mut Step, result: &str) {
    step.status = Status::Done;
    step.result = Some(result.to_owned()).filter(|result| !result.is_empty());
    step.mark = None;
}
