//! The progress on standard error while a flow runs.

use std::io::{self, IsTerminal, Write};

use cogwork_flow::engine::StepName;
use cogwork_flow::watch::{Event, EventKind, Events};
use cogwork_text::{Name, OneLine};
use cogwork_trace::{GrowingTexts, Piece};
use cogwork_typed::ask::ToolEvent;

use crate::arguments::RunOptions;
use crate::output::{harmless, tell, without_secrets};

/// The number of characters shown of the input and the output of a tool.
const SHOWN: usize = 60;

/// Returns whether texts are shown as they grow.
pub(super) fn follows_texts(options: &RunOptions) -> bool {
    !options.quiet && (options.stream || io::stderr().is_terminal())
}

/// Shows the events of a run until it ends.
pub(super) async fn show(mut events: Events, options: &RunOptions) {
    let mut display = Display {
        texts: follows_texts(options)
            .then(|| GrowingTexts::default().with_secrets(without_secrets)),
        is_in_line: false,
        speaker: String::new(),
    };

    while let Some(event) = events.next().await {
        if !options.quiet {
            display.show(&event);
        }
    }

    display.end();
}

/// Shows a line for each step and each call of a tool, and the texts of models as they grow.
struct Display {
    texts: Option<GrowingTexts>,
    is_in_line: bool,
    /// The step whose text is shown. Steps of branches take turns.
    speaker: String,
}

impl Display {
    fn show(&mut self, event: &Event) {
        let step = event.step.as_deref().map(step_name).unwrap_or_default();
        if let Some(piece) = self.texts.as_mut().and_then(|texts| texts.add(event)) {
            self.add(&piece);
        }

        match &event.kind {
            EventKind::StepEntered => {
                self.line(&step);
                self.speaker = step;
            }
            EventKind::Retrying {
                attempts, error, ..
            } => self.line(&format!("{step}: attempt {attempts} failed: {error}")),
            EventKind::Reported { report } => {
                if let Some(line) = report.downcast_ref().and_then(tool_line) {
                    self.line(&format!("{step}: {line}"));
                }
            }
            EventKind::Noted {
                text,
                is_growth: false,
            } => self.line(&format!("{step}: {}", OneLine::new(text))),
            EventKind::Failed { .. } => self.end(),
            // The whole run waits. A pause of a step leaves the texts of other branches alone.
            EventKind::Paused(_) if event.step.is_none() => self.end(),
            EventKind::PhaseFinished { .. } | EventKind::Paused(_) => self.end_line(),
            _ => {}
        }
    }

    /// Shows what was held back of all texts.
    fn end(&mut self) {
        let pieces = self.texts.as_mut().map(GrowingTexts::end_all);
        for piece in pieces.unwrap_or_default() {
            self.add(&piece);
        }
        self.end_line();
    }

    fn add(&mut self, piece: &Piece) {
        if piece.text.is_empty() {
            return self.end_line();
        }

        let step = step_name(&piece.step);
        // What was written cannot be replaced, so the text continues on a new line.
        if self.speaker != step {
            self.line(&step);
            self.speaker = step;
        } else if piece.is_start {
            self.end_line();
        }

        self.write(&piece.text);
        if piece.is_end {
            self.end_line();
        }
    }

    /// Shows a line of its own.
    fn line(&mut self, line: &str) {
        self.end_line();
        tell(line);
    }

    /// Ends the line of a text, before something else is written.
    fn end_line(&mut self) {
        if self.is_in_line {
            self.write("\n");
        }
    }

    /// Writes a piece of a reply. Errors are ignored, as for all progress.
    fn write(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }

        let text = harmless(text);
        self.is_in_line = !text.ends_with('\n');
        let mut err = io::stderr().lock();
        let _ = err.write_all(text.as_bytes()).and_then(|()| err.flush());
    }
}

/// Returns the line of a call of a tool, or of its result.
fn tool_line(event: &ToolEvent) -> Option<String> {
    let beginning = |text| OneLine::new(text).with_max_chars(SHOWN);
    match event {
        ToolEvent::ToolCall { name, input, .. } => {
            Some(format!("calls {} with {}", Name(name), beginning(input)))
        }
        ToolEvent::ToolResult {
            name,
            output,
            failed,
            ..
        } => {
            let what = if *failed { "failed" } else { "returned" };
            Some(format!("{} {what}: {}", Name(name), beginning(output)))
        }
        _ => None,
    }
}

/// Returns the step without the name of the flow, which is the same for all.
pub(super) fn step_name(step: &StepName) -> String {
    harmless(&format!("{}#{}", step.place(), step.number))
}
