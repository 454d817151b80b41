//! The progress on standard error while a flow runs.

use std::io::{self, IsTerminal, Write};
use std::time::Duration;

use cogwork_agents::FileFlow;
use cogwork_flow::engine::StepName;
use cogwork_flow::watch::{EventKind, Events};
use cogwork_typed::ask::ToolEvent;
use indicatif::{ProgressBar, ProgressStyle};

use super::costs::Costs;
use super::stream::Growing;
use super::thinking::{Piece, Thinkers};
use crate::arguments::RunOptions;
use crate::output::{harmless, tell};

/// The number of characters shown of a growing reply, from its end.
const SHOWN: usize = 60;

/// Shows the events of a run until it ends. Returns what it cost.
pub(super) async fn show(mut events: Events, options: &RunOptions, loaded: &FileFlow) -> Costs {
    let mut display = Display::new(options);
    let mut thinkers = Thinkers::default();
    let mut costs = Costs::new();

    while let Some(event) = events.next().await {
        let step = event
            .step
            .as_deref()
            .map(|step| harmless(&name(step)))
            .unwrap_or_default();

        costs.add(&event);
        let piece = thinkers.piece(&event).or_else(|| thinkers.whole(&event));
        if let Some(piece) = piece {
            display.add(&step, &piece, loaded);
        }
        display.show(step, event.kind, loaded);
    }

    display.end(loaded);
    costs
}

/// How progress is shown.
enum Display {
    Nothing,
    /// One line for each step.
    Lines,
    /// On a terminal, the current step and the end of the reply that is being written.
    Spinner {
        spinner: Option<ProgressBar>,
        said: String,
    },
    /// One line for each step, and the replies as they grow.
    Stream {
        reply: Growing,
        is_in_line: bool,
        /// The step whose text is shown. Steps of branches take turns.
        speaker: String,
    },
}

impl Display {
    fn new(options: &RunOptions) -> Self {
        if options.quiet {
            return Self::Nothing;
        }
        if options.stream {
            return Self::Stream {
                reply: Growing::default(),
                is_in_line: false,
                speaker: String::new(),
            };
        }
        if io::stderr().is_terminal() {
            return Self::Spinner {
                spinner: None,
                said: String::new(),
            };
        }

        Self::Lines
    }

    fn show(&mut self, step: String, kind: EventKind, loaded: &FileFlow) {
        match kind {
            EventKind::StepEntered => self.enter(step, loaded),
            EventKind::Retrying {
                attempts, error, ..
            } => {
                let error = loaded.hide_secrets(&error);
                self.line(
                    &format!("{step}: attempt {attempts} failed: {error}"),
                    loaded,
                );
            }
            EventKind::Reported { report } => {
                if let Some(line) = report.downcast_ref().and_then(tool_line) {
                    let line = loaded.hide_secrets(&line);
                    self.line(&format!("{step}: {line}"), loaded);
                }
            }
            EventKind::PhaseFinished { .. } if matches!(self, Self::Stream { .. }) => {
                self.end(loaded);
            }
            EventKind::Paused(_) => self.end(loaded),
            _ => {}
        }
    }

    fn enter(&mut self, step: String, loaded: &FileFlow) {
        match self {
            Self::Spinner { spinner, said } => {
                said.clear();
                spinner
                    .get_or_insert_with(new_spinner)
                    .set_message(step.clone());
            }
            _ => self.line(&step, loaded),
        }
        if let Self::Stream { speaker, .. } = self {
            *speaker = step;
        }
    }

    fn add(&mut self, step: &str, piece: &Piece<'_>, loaded: &FileFlow) {
        if let Self::Stream { speaker, .. } = self {
            let is_other = speaker != step;
            step.clone_into(speaker);
            // What was written to a stream cannot be replaced, so the text continues on a new line.
            if is_other {
                self.line(step, loaded);
            } else if piece.is_start {
                self.end(loaded);
            }
        }

        match self {
            Self::Nothing | Self::Lines => {}
            Self::Spinner { spinner, said } => {
                if piece.is_start {
                    said.clear();
                }
                said.push_str(piece.text);
                *said = end_of(said);

                if let Some(spinner) = spinner {
                    let said = harmless(&loaded.hide_secrets(said));
                    spinner.set_message(format!("{step}: {said}"));
                }
            }
            Self::Stream {
                reply, is_in_line, ..
            } => {
                let text = reply.push(piece.text, |text| loaded.hide_secrets(text));
                write_piece(&text, is_in_line);
            }
        }
    }

    /// Shows a line of its own.
    fn line(&mut self, line: &str, loaded: &FileFlow) {
        match self {
            Self::Nothing => {}
            Self::Lines => tell(line),
            Self::Spinner { spinner, .. } => match spinner {
                Some(spinner) => spinner.suspend(|| tell(line)),
                None => tell(line),
            },
            Self::Stream { .. } => {
                self.end(loaded);
                tell(line);
            }
        }
    }

    /// Ends what is shown, before something else is written.
    fn end(&mut self, loaded: &FileFlow) {
        match self {
            Self::Nothing | Self::Lines => {}
            Self::Spinner { spinner, .. } => {
                if let Some(spinner) = spinner.take() {
                    spinner.finish_and_clear();
                }
            }
            Self::Stream {
                reply, is_in_line, ..
            } => {
                let rest = reply.end(|text| loaded.hide_secrets(text));
                write_piece(&rest, is_in_line);

                if *is_in_line {
                    write_piece("\n", is_in_line);
                }
            }
        }
    }
}

/// Returns the line of a call of a tool, or of its result.
fn tool_line(event: &ToolEvent) -> Option<String> {
    Some(match event {
        ToolEvent::ToolCall { name, input, .. } => {
            format!("calls {} with {}", harmless(name), beginning_of(input))
        }
        ToolEvent::ToolResult {
            name,
            output,
            failed,
            ..
        } => {
            let what = if *failed { "failed" } else { "returned" };
            format!("{} {what}: {}", harmless(name), beginning_of(output))
        }
        _ => return None,
    })
}

/// Writes a piece of a reply. Errors are ignored, as for all progress.
fn write_piece(text: &str, is_in_line: &mut bool) {
    if text.is_empty() {
        return;
    }

    let text = harmless(text);
    *is_in_line = !text.ends_with('\n');
    let mut err = io::stderr().lock();
    let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
}

fn new_spinner() -> ProgressBar {
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
    let skipped = text.chars().count().saturating_sub(SHOWN);
    in_line(text.chars().skip(skipped))
}

/// Returns the first characters of a text, on one line.
fn beginning_of(text: &str) -> String {
    in_line(text.chars().take(SHOWN))
}

fn in_line(text: impl Iterator<Item = char>) -> String {
    let line = text.map(|c| if c.is_whitespace() { ' ' } else { c });
    harmless(&line.collect::<String>())
}
