//! Converts steps in other forms and values in other words. Each conversion is a small function.

use cogwork_plan::{Plan, Status};
use cogwork_typed::ask::RepairKind;

use super::draft::{Draft, DraftStep, Field};
use super::part::Part;
use super::repairs::{Report, excerpt};
use super::text::Value;
use super::words;
use crate::reply::keys::Key;

/// The number of equal steps in a row that is treated as a loop of the model. Two or three equal
/// steps can be intended, but hardly this many.
const LOOP: usize = 10;

/// Reads a step given as a bare text: a printed step such as `[Done] Buy: $23`, a description with
/// a status such as `Buy: Done`, or just a description.
pub(super) fn read_bare(step: &mut DraftStep, value: &Value<'_>, text: &str, report: &mut Report) {
    let field = |text: &str| {
        let column = value.column + 1;
        Some(Field {
            line: value.line,
            column,
            value_column: column,
            text: Some(text.trim().to_owned()),
        })
        .filter(|_| !text.trim().is_empty())
    };

    let boxed = text.strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let status =
        boxed.and_then(|(status, rest)| Some((words::status(&format!("[{status}]"))?, rest)));
    if let Some((status, rest)) = status {
        let what = "read a step as it is printed";
        report.add_part(RepairKind::Form, value.line, value.part(), what);
        let (description, result, mark) = printed(rest.trim(), status);
        step.status = field(status.as_str());
        (step.description, step.result, step.mark) =
            (field(description), field(result), field(mark));
        return;
    }

    let pair = text
        .rsplit_once(": ")
        .filter(|(_, status)| words::status(status).is_some());
    if let Some((description, status)) = pair {
        report.add_part(
            RepairKind::Form,
            value.line,
            value.part(),
            format!("read `{}` as a step and its status", excerpt(text)),
        );
        (step.description, step.status) = (field(description), field(status));
    } else {
        report.add_part(
            RepairKind::Form,
            value.line,
            value.part(),
            format!("read the text `{}` as a step", excerpt(text)),
        );
        step.description = field(text);
    }
}

/// Splits `description: result (mark)`. Only a step that isn't pending can have a result, and only
/// a step that needs verification can have a mark.
fn printed(text: &str, status: Status) -> (&str, &str, &str) {
    let (text, mark) = match text
        .strip_suffix(')')
        .and_then(|text| text.rsplit_once(" ("))
    {
        Some((text, mark)) if status == Status::VerificationNeeded => (text, mark),
        _ => (text, ""),
    };
    match text.split_once(": ") {
        Some((description, result)) if status != Status::Pending => (description, result, mark),
        _ => (text, "", mark),
    }
}

/// Applies all repairs of values to a draft, in order.
pub(super) fn repair(draft: &mut Draft, report: &mut Report) {
    if let Some((_, steps)) = &mut draft.planning {
        each_list(steps, &mut |steps| {
            join_parts(steps, report);
            drop_empty(steps, report);
            drop_loops(steps, report);
            steps.iter_mut().for_each(|step| status(step, report));
        });
    }

    truth(draft, report);
}

/// Calls `work` with every list of steps, the deepest first. Drafts are no deeper than plans.
fn each_list(steps: &mut Vec<DraftStep>, work: &mut impl FnMut(&mut Vec<DraftStep>)) {
    for step in steps.iter_mut() {
        each_list(&mut step.sub_steps, work);
    }

    work(steps);
}

/// Joins steps that were split into pieces, with a dash before each key: `- description: Buy`, `-
/// status: Done`.
fn join_parts(steps: &mut Vec<DraftStep>, report: &mut Report) {
    let mut joined: Vec<DraftStep> = Vec::with_capacity(steps.len());
    for mut part in steps.drain(..) {
        let lacks = |whole: &DraftStep| {
            part.description.is_none()
                && part.unknown.is_empty()
                && (part.status.is_none() || whole.status.is_none())
                && (part.result.is_none() || whole.result.is_none())
                && (part.mark.is_none() || whole.mark.is_none())
                && (part.sub_steps.is_empty() || whole.sub_steps.is_empty())
        };
        match joined
            .last_mut()
            .filter(|whole| whole.description.is_some() && lacks(whole))
        {
            Some(whole)
                if part.status.is_some()
                    || part.result.is_some()
                    || part.mark.is_some()
                    || !part.sub_steps.is_empty() =>
            {
                report.add_part(
                    RepairKind::Form,
                    part.line,
                    Part::First("-".to_owned()),
                    "joined a key to the step before it",
                );

                for key in [Key::Status, Key::Result, Key::Mark] {
                    if let (Some(to), Some(from)) = (whole.field(key), part.field(key))
                        && from.is_some()
                    {
                        *to = from.take();
                    }
                }

                whole.sub_steps.append(&mut part.sub_steps);
            }
            _ => joined.push(part),
        }
    }

    *steps = joined;
}

fn drop_empty(steps: &mut Vec<DraftStep>, report: &mut Report) {
    steps.retain(|step| {
        if step.is_empty() {
            report.add(
                RepairKind::EmptyStep,
                step.line,
                "left out a step that says nothing",
            );
        }

        !step.is_empty()
    });
}

/// Replaces a synonym of a status. An unknown word is kept.
fn status(step: &mut DraftStep, report: &mut Report) {
    let Some(Field {
        text: Some(text),
        line,
        ..
    }) = &mut step.status
    else {
        if step.description.is_some() {
            report.add(
                RepairKind::MissingStatus,
                step.line,
                "took a step without a status as Pending",
            );

            let text = Some("Pending".to_owned());
            let DraftStep { line, column, .. } = *step;
            step.status = Some(Field {
                line,
                column,
                value_column: column,
                text,
            });
        }

        return;
    };

    let bare = bare(text);
    if let Some(status) = words::status(bare) {
        if bare != status.as_str() {
            let what = format!("read the status `{}` as {status}", excerpt(text));
            let part = Part::Last(text.clone());
            report.add_part(RepairKind::Status, *line, part, what);
        } else if bare != text && !is_quoted(text, bare) {
            report.add_part(
                RepairKind::Status,
                *line,
                Part::Last(text.clone()),
                format!("left out what follows the status in `{}`", excerpt(text)),
            );
        }

        *text = status.as_str().to_owned();
    }
}

fn truth(draft: &mut Draft, report: &mut Report) {
    let Some(Field {
        text: Some(text),
        line,
        ..
    }) = &mut draft.needed
    else {
        return;
    };

    let bare = bare(text);
    if let Some(value) = words::truth(bare) {
        let value = value.to_string();
        if *text != value {
            let what = format!("read `next_thought_needed: {}` as {value}", excerpt(text));
            let part = Part::Last(text.clone());
            report.add_part(RepairKind::TruthValue, *line, part, what);
        }

        *text = value;
    }
}

/// Returns a word without a trailing comment and without quotes around it.
fn bare(text: &str) -> &str {
    let text = text.split_once(" #").map_or(text, |(text, _)| text).trim();
    let inner = text
        .strip_prefix(['"', '\''])
        .and_then(|text| text.strip_suffix(['"', '\'']));

    inner.unwrap_or(text)
}

fn is_quoted(text: &str, bare: &str) -> bool {
    text.len() == bare.len() + 2 && text.starts_with(['"', '\''])
}

/// Returns whether a plan has enough equal steps in a row to be a loop.
pub(in crate::reply) fn repeats(plan: &Plan) -> bool {
    let mut equal = 0;
    let mut before = None;
    plan.walk().any(|entry| {
        // Sub-steps are deeper, so equal steps at the same depth have none between them.
        let same = before == Some((entry.depth, entry.step)) && entry.step.sub_steps.is_empty();
        before = Some((entry.depth, entry.step));
        equal = if same { equal + 1 } else { 0 };

        equal + 1 >= LOOP
    })
}

/// Keeps only the first of many equal steps in a row.
fn drop_loops(steps: &mut Vec<DraftStep>, report: &mut Report) {
    let mut kept: Vec<DraftStep> = Vec::with_capacity(steps.len());
    let mut equal = 0;
    for step in steps.drain(..) {
        if kept.last().is_some_and(|last| last.repeats(&step)) {
            equal += 1;
        } else {
            close_loop(&mut kept, equal, report);
            equal = 0;
        }

        kept.push(step);
    }

    close_loop(&mut kept, equal, report);
    *steps = kept;
}

/// Removes the last steps if they repeat the step before them many times.
fn close_loop(kept: &mut Vec<DraftStep>, equal: usize, report: &mut Report) {
    if equal + 1 < LOOP {
        return;
    }

    kept.truncate(kept.len() - equal);
    if let Some(first) = kept.last() {
        let what = format!("left out {equal} repetitions of the same step");
        report.add(RepairKind::Repetition, first.line, what);
    }
}
