//! The progress on standard error while a flow runs.

use std::collections::BTreeSet;
use std::io::{self, IsTerminal};
use std::time::Duration;

use cogwork_agents::FileFlow;
use cogwork_cot::ReasoningEvent;
use cogwork_flow::{EventKind, Events, Report, StepName};
use cogwork_strategies::SolvingEvent;
use indicatif::{ProgressBar, ProgressStyle};

use crate::output::{harmless, tell};

/// The number of characters shown of a growing reply, from its end.
const SHOWN: usize = 60;

/// Shows progress until the run ends: on a terminal, the current step and the end of the reply that
/// is being written; otherwise, one line for each step.
pub(crate) async fn show(mut events: Events, loaded: &FileFlow) {
    let spinner = io::stderr().is_terminal().then(spinner);
    let mut said = String::new();
    let mut reasoning = BTreeSet::new();
    while let Some(event) = events.next().await {
        let step = event
            .step
            .as_deref()
            .map(|step| harmless(&name(step)))
            .unwrap_or_default();
        let place = event.step.as_deref().map(StepName::place);

        match event.kind {
            EventKind::StepEntered => {
                said.clear();
                match &spinner {
                    Some(spinner) => spinner.set_message(step),
                    None => tell(step),
                }
            }
            // The raw replies of these nodes are not for people.
            EventKind::Noted { .. } if reasoning.contains(&place) => {}
            EventKind::Noted { text } => {
                if let Some(spinner) = &spinner {
                    said = end_of(&(said + &text));
                    show_end(spinner, &step, &said, loaded);
                }
            }
            EventKind::Reported { report } => {
                if has_thoughts(&report) {
                    reasoning.insert(place);
                }
                if let (Some(spinner), Some(piece)) = (&spinner, thinking(&report)) {
                    let before = if piece.is_start { "" } else { &said };
                    said = end_of(&format!("{before}{}", piece.text));
                    show_end(spinner, &step, &said, loaded);
                }
            }
            EventKind::Retrying {
                attempts, error, ..
            } => {
                let line = format!(
                    "{step}: attempt {attempts} failed: {}",
                    loaded.hide_secrets(&error)
                );
                match &spinner {
                    Some(spinner) => spinner.suspend(|| tell(line)),
                    None => tell(line),
                }
            }
            _ => {}
        }
    }

    if let Some(spinner) = spinner {
        spinner.finish_and_clear();
    }
}

fn show_end(spinner: &ProgressBar, step: &str, end: &str, loaded: &FileFlow) {
    let end = harmless(&loaded.hide_secrets(end));
    spinner.set_message(format!("{step}: {end}"));
}

/// Returns whether a node reports the text of its thoughts.
fn has_thoughts(report: &Report) -> bool {
    let is_reasoning = report.downcast_ref::<ReasoningEvent>().is_some();
    is_reasoning || report.downcast_ref::<SolvingEvent>().is_some()
}

/// A piece of the text of a thought.
struct Piece<'r> {
    text: &'r str,
    is_start: bool,
}

fn thinking(report: &Report) -> Option<Piece<'_>> {
    if let Some(ReasoningEvent::Thinking { text, is_start, .. }) = report.downcast_ref() {
        let is_start = *is_start;
        return Some(Piece { text, is_start });
    }

    match report.downcast_ref()? {
        SolvingEvent::Thinking { text, is_start, .. } => Some(Piece {
            text,
            is_start: *is_start,
        }),
        _ => None,
    }
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    if let Ok(style) = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}") {
        spinner.set_style(style);
    }

    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// Returns the step without the name of the flow, which is the same for all.
fn name(step: &StepName) -> String {
    format!("{}#{}", step.place(), step.number)
}

/// Returns the last characters of a text, on one line.
fn end_of(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .collect();
    let skipped = line.chars().count().saturating_sub(SHOWN);
    line.chars().skip(skipped).collect()
}
