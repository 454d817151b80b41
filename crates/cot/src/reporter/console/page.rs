//! The finished parts of the output.

use std::fmt;

use anstyle::Style;
use cogwork_plan::{Change, ChangeKind, Plan, Status, Step};
use cogwork_text::{MultiLine, Name, OneLine, counted};
use cogwork_typed::ask::Spent;

use super::styles::Styles;
use super::wrap;
use crate::{CutShort, Reasoning, ReasoningEvent};

/// The columns of the bar that shows the progress. A shorter one isn't shown.
const MAX_BAR: usize = 20;
const MIN_BAR: usize = 5;

/// The columns of the branch of a step and of its sign, before its text.
const STEP_COLUMNS: usize = 5;

/// The maximum number of characters of the line of a tool call.
const MAX_TOOL_USE: usize = 100;
/// The maximum number of characters of the input in this line.
const MAX_TOOL_INPUT: usize = 40;

/// Lines of text, with styles and wrapped.
pub(super) struct Page {
    pub(super) styles: Styles,
    pub(super) width: Option<usize>,
    pub(super) text: String,
}

impl Page {
    pub(super) fn event(&mut self, event: &ReasoningEvent) {
        match event {
            ReasoningEvent::Started { problem } => {
                self.heading("Problem");
                self.paragraph(Style::new(), MultiLine::new(problem.trim()));
                self.line("");
            }
            ReasoningEvent::AskingAgain { thought, problem } => {
                self.warning(
                    *thought,
                    format_args!("asking again: {}", OneLine::new(problem)),
                );
            }
            ReasoningEvent::FormatRefused {
                thought,
                refused,
                next,
                error,
            } => {
                let error = OneLine::new(error);
                let text = format!("the server refuses {refused}, asking by {next}: {error}");
                self.warning(*thought, text);
            }
            ReasoningEvent::Concluding { thought, limit } => {
                let text = format!("concluding, because the limit of {limit} is nearly reached");
                self.warning(*thought, text);
            }
            ReasoningEvent::ToolResult {
                name,
                input,
                output,
                failed,
                ..
            } => self.tool_use(name, input, output, *failed),
            ReasoningEvent::Thought {
                thought,
                text,
                plan,
                changes,
                repairs,
                ended_early,
                spent,
                ..
            } => {
                self.heading(&format!("Thought {thought}"));
                self.thinking(*thought, text.trim());
                self.line("");

                self.plan(plan);
                // All of the first plan is new.
                if *thought > 1 {
                    self.changes(changes);
                }
                self.remarks(repairs.len(), *ended_early);
                self.paragraph(self.styles.faint, Cost(*spent));
                self.line("");
            }
            ReasoningEvent::Ended {
                solution: Some(solution),
                concluded,
                cut_short,
                thoughts,
                total,
                ..
            } => {
                // A model that gives up ends the reasoning, too.
                let (title, style) = match concluded {
                    false => ("Ended without a conclusion", self.styles.warning),
                    true => ("Answer", self.styles.good),
                };
                self.heading(title);
                self.paragraph(style, MultiLine::new(solution.trim()));
                self.line("");

                if let Some(cut_short) = cut_short {
                    self.limit(cut_short);
                }
                self.paragraph(self.styles.faint, sum(*thoughts, *total));
            }
            _ => {}
        }
    }

    fn limit(&mut self, cut_short: &CutShort) {
        let limit = cut_short.limit;
        let best = if cut_short.is_concluded() {
            "the best answer so far"
        } else {
            "the last thought, without a conclusion"
        };

        let text = format!("Ended by the limit of {limit}: this is {best}.");
        self.paragraph(self.styles.warning, text);
    }

    /// Adds what is known after an interruption.
    pub(super) fn interrupted(&mut self, reasoning: &Reasoning) {
        let Styles { warning, faint, .. } = self.styles;

        self.line(&format!("{warning}Interrupted{warning:#}"));
        if let Some(plan) = reasoning.plan() {
            self.plan(plan);
        }

        let cost = sum(reasoning.thoughts().len(), reasoning.spent());
        self.paragraph(faint, cost);
    }

    fn warning(&mut self, thought: u32, text: impl fmt::Display) {
        let text = format_args!("Thought {thought}: {text}");
        self.paragraph(self.styles.warning, text);
        self.line("");
    }

    /// Adds one line with the call and the beginning of its result.
    fn tool_use(&mut self, name: &str, input: &str, output: &str, failed: bool) {
        let Styles { faint, warning, .. } = self.styles;
        let (style, sign) = if failed {
            (warning, "✗")
        } else {
            (faint, "→")
        };

        let input = OneLine::new(input).with_max_chars(MAX_TOOL_INPUT);
        let line = format!("{} {input} {sign} {output}", Name(name));

        // One line each, since a tool may return thousands.
        let columns = self.width.unwrap_or(MAX_TOOL_USE).min(MAX_TOOL_USE);
        self.paragraph(style, OneLine::new(line).with_max_chars(columns));
    }

    fn thinking(&mut self, number: u32, mut thinking: &str) {
        // The instructions ask the model to begin with the evaluation of the last thought.
        if let Some((first, rest)) = thinking.split_once('\n')
            && number > 1
        {
            self.paragraph(self.styles.evaluation, OneLine::new(first));
            thinking = rest;
        }

        self.paragraph(Style::new(), MultiLine::new(thinking));
    }

    fn plan(&mut self, plan: &Plan) {
        let progress = plan.progress();
        let text = progress.to_string();
        let columns = "Plan    ".len() + text.len();
        let left = self
            .width
            .map_or(MAX_BAR, |width| width.saturating_sub(columns));

        // A bar of two or three signs says nothing.
        if left < MIN_BAR {
            self.heading("Plan");
            self.paragraph(Style::new(), text);
        } else {
            let heading = self.styles.heading;
            let bar = self.bar(progress.fraction(), left.min(MAX_BAR));
            self.line(&format!("{heading}Plan{heading:#}  {bar}  {text}"));
        }

        self.steps(plan.steps(), "");
    }

    /// Adds steps as a tree. A wrapped step continues below its text, next to the guides of the
    /// tree.
    fn steps(&mut self, steps: &[Step], guides: &str) {
        let faint = self.styles.faint;

        for (number, step) in (1..).zip(steps) {
            let (branch, guide) = if number == steps.len() {
                ("└─ ", "   ")
            } else {
                ("├─ ", "│  ")
            };
            let below = if step.sub_steps.is_empty() {
                "  "
            } else {
                "│ "
            };
            let (sign, text) = self.step(step);

            let mut start = format!("{faint}{guides}{branch}{faint:#}{sign} ");
            let columns = guides.chars().count() + STEP_COLUMNS;
            let width = self.width.map(|width| width.saturating_sub(columns));

            for line in wrap::styled_lines(&text, width) {
                self.line(&format!("{start}{line}"));
                start = format!("{faint}{guides}{guide}{below}{faint:#}");
            }

            self.steps(&step.sub_steps, &format!("{guides}{guide}"));
        }
    }

    /// Returns the sign and the text of a step.
    fn step(&self, step: &Step) -> (String, String) {
        let (style, sign) = match step.status {
            Status::Done => (self.styles.good, "✓"),
            Status::Pending => (self.styles.faint, "·"),
            Status::VerificationNeeded => (self.styles.warning, "?"),
        };

        let mut text = OneLine::new(&step.description).to_string();
        if let Some(result) = &step.result {
            text += &format!(": {style}{}{style:#}", OneLine::new(result));
        }
        if let Some(mark) = &step.mark {
            text += &format!(" {style}({}){style:#}", OneLine::new(mark));
        }

        (format!("{style}{sign}{style:#}"), text)
    }

    fn bar(&self, fraction: f64, columns: usize) -> String {
        let Styles { good, faint, .. } = self.styles;
        let full = ((fraction * columns as f64) as usize).min(columns);

        format!(
            "{good}{}{good:#}{faint}{}{faint:#}",
            "━".repeat(full),
            "┄".repeat(columns - full)
        )
    }

    fn changes(&mut self, changes: &[Change]) {
        let heading = self.styles.heading;
        if changes.is_empty() {
            return self.line(&format!("{heading}Changed{heading:#} nothing"));
        }

        self.heading("Changed");
        let mut other_status = None;
        for change in changes {
            match change.kind {
                ChangeKind::StatusChanged { .. } => other_status = Some(&change.path),
                // The result or mark that came with the status is shown in the tree above.
                ChangeKind::ResultChanged { from: None, .. }
                | ChangeKind::MarkChanged { from: None, .. }
                    if other_status == Some(&change.path) =>
                {
                    continue;
                }
                _ => {}
            }

            self.paragraph(Style::new(), format_args!("  {}", OneLine::new(change)));
        }
    }

    /// Adds what is unusual about a thought.
    fn remarks(&mut self, repairs: usize, ended_early: bool) {
        let Styles { faint, warning, .. } = self.styles;

        if repairs > 0 {
            let repairs = counted(repairs, "repair");
            let text = format!("The reply was read after {repairs}.");
            self.paragraph(faint, text);
        }
        if ended_early {
            self.paragraph(warning, "Ended although steps of the plan are not done.");
        }
    }

    fn heading(&mut self, text: &str) {
        let heading = self.styles.heading;
        self.line(&format!("{heading}{text}{heading:#}"));
    }

    /// Adds a text, wrapped. Empty lines have no style.
    fn paragraph(&mut self, style: Style, text: impl fmt::Display) {
        for line in wrap::lines(&text.to_string(), self.width) {
            if line.is_empty() {
                self.line("");
            } else {
                self.line(&format!("{style}{line}{style:#}"));
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }
}

/// Returns the number of thoughts, and what they cost.
fn sum(thoughts: usize, spent: Spent) -> String {
    format!("{}, {}", counted(thoughts, "thought"), Cost(spent))
}

/// The tokens and seconds of a turn.
struct Cost(Spent);

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Spent { usage, time, .. } = self.0;

        if usage.total_tokens() > 0 {
            write!(
                f,
                "{} tokens read, {} written, ",
                usage.prompt_tokens, usage.completion_tokens
            )?;
        }

        write!(f, "{:.1} s", time.as_secs_f64())
    }
}
