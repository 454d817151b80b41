//! The finished parts of the output.

use std::fmt;

use anstyle::Style;
use cogwork_plan::{ChangeKind, Plan};
use cogwork_text::{MultiLine, Name, OneLine};
use cogwork_typed::ask::Spent;

use super::styles::Styles;
use super::{tree, wrap};
use crate::{Reasoning, ReasoningEnd, Thought, ToolCallRecord};

/// The columns of the bar that shows the progress. A shorter one isn't shown.
const MAX_BAR: usize = 20;
const MIN_BAR: usize = 5;

/// The maximum number of characters of the line of a tool call.
const MAX_TOOL_USE: usize = 100;
/// The maximum number of characters of the input in this line.
const MAX_TOOL_INPUT: usize = 40;

/// Lines of text, with styles and wrapped.
pub(super) struct Page {
    styles: Styles,
    width: Option<usize>,
    text: String,
}

impl Page {
    pub(super) fn new(styles: Styles, width: Option<usize>) -> Self {
        Self {
            styles,
            width,
            text: String::new(),
        }
    }

    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// Adds a text, wrapped. Empty lines have no style.
    fn paragraph(&mut self, style: Style, text: &str) {
        for line in wrap::lines(text, self.width) {
            if line.is_empty() {
                self.text.push('\n');
            } else {
                self.line(&format!("{style}{line}{style:#}"));
            }
        }
    }

    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    pub(super) fn problem(&mut self, problem: &str) {
        let heading = self.styles.heading;

        self.line(&format!("{heading}Problem{heading:#}"));
        self.paragraph(Style::new(), &MultiLine::new(problem.trim()).to_string());
        self.line("");
    }

    pub(super) fn warning(&mut self, text: &str) {
        self.paragraph(self.styles.warning, text);
        self.line("");
    }

    /// Adds one line with the call and the beginning of its result.
    pub(super) fn tool_use(&mut self, used: &ToolCallRecord) {
        let style = if used.failed {
            self.styles.warning
        } else {
            self.styles.faint
        };
        let sign = if used.failed { "✗" } else { "→" };

        let name = Name(&used.name);
        let input = OneLine::new(&used.input).with_max_chars(MAX_TOOL_INPUT);
        let line = format!("{name} {input} {sign} {}", used.output);

        let columns = self.width.unwrap_or(MAX_TOOL_USE).min(MAX_TOOL_USE);
        let line = OneLine::new(line).with_max_chars(columns).to_string();
        self.paragraph(style, &line);
    }

    pub(super) fn thought(&mut self, reasoning: &Reasoning) {
        let Some(thought) = reasoning.thoughts().last() else {
            return;
        };
        let heading = self.styles.heading;

        self.line(&format!(
            "{heading}Thought {}{heading:#}",
            thought.thought_number()
        ));
        self.thinking(thought);
        self.line("");

        self.plan(thought.planning());
        self.changes(reasoning, thought);
        self.remarks(thought);
        self.paragraph(self.styles.faint, &Cost(thought.trace().spent).to_string());
        self.line("");
    }

    fn thinking(&mut self, thought: &Thought) {
        let thinking = thought.current_thinking().trim();

        match thinking.split_once('\n') {
            // The instructions ask the model to begin with the evaluation of the last thought.
            Some((first, rest)) if thought.thought_number() > 1 => {
                self.paragraph(self.styles.evaluation, &OneLine::new(first).to_string());
                self.paragraph(Style::new(), &MultiLine::new(rest).to_string());
            }
            _ => self.paragraph(Style::new(), &MultiLine::new(thinking).to_string()),
        }
    }

    fn plan(&mut self, plan: &Plan) {
        let heading = self.styles.heading;
        let progress = plan.progress();
        let text = progress.to_string();

        let columns = "Plan    ".len() + text.len();
        let left = self
            .width
            .map_or(MAX_BAR, |width| width.saturating_sub(columns));
        let bar = self.bar(progress.fraction(), left.min(MAX_BAR));

        if left < MIN_BAR {
            self.line(&format!("{heading}Plan{heading:#}"));
            self.paragraph(Style::new(), &text);
        } else {
            self.line(&format!("{heading}Plan{heading:#}  {bar}  {text}"));
        }
        for line in tree::lines(plan, self.styles, self.width) {
            self.line(&line);
        }
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

    fn changes(&mut self, reasoning: &Reasoning, thought: &Thought) {
        let heading = self.styles.heading;
        let Some(previous) = reasoning.previous_plan() else {
            return;
        };

        let changes = thought.planning().changes_since(previous);
        if changes.is_empty() {
            return self.line(&format!("{heading}Changed{heading:#} nothing"));
        }

        self.line(&format!("{heading}Changed{heading:#}"));
        let mut other_status = None;
        for change in &changes {
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

            self.paragraph(Style::new(), &format!("  {}", OneLine::new(change)));
        }
    }

    fn remarks(&mut self, thought: &Thought) {
        let Styles { faint, warning, .. } = self.styles;
        let trace = thought.trace();
        let repairs = trace.repairs.len();

        if repairs > 0 {
            let plural = if repairs == 1 { "" } else { "s" };
            self.paragraph(
                faint,
                &format!("The reply was read after {repairs} repair{plural}."),
            );
        }

        if trace.truncated {
            self.paragraph(
                warning,
                "The reply ends in the middle of a step, which was left out.",
            );
        }

        if trace.ended_early {
            self.paragraph(warning, "Ended although steps of the plan are not done.");
        }
    }

    pub(super) fn answer(&mut self, reasoning: &Reasoning) {
        let Styles {
            heading,
            good,
            warning,
            ..
        } = self.styles;
        let answer = reasoning.answer().unwrap_or_default().trim();

        // A model that gives up ends the reasoning, too.
        let is_concluded = reasoning
            .conclusion()
            .is_some_and(|conclusion| !conclusion.trim().is_empty());
        let title = if is_concluded {
            "Answer"
        } else {
            "Ended without a conclusion"
        };
        let style = if is_concluded { good } else { warning };

        self.line(&format!("{heading}{title}{heading:#}"));
        self.paragraph(style, &MultiLine::new(answer).to_string());
        self.line("");

        if let Some(ReasoningEnd::Limit(limit)) = reasoning.end_reason() {
            let best = match reasoning.cut_short() {
                Some(cut_short) if cut_short.is_concluded() => "the best answer so far",
                _ => "the last thought, without a conclusion",
            };
            let warning = format!("Ended by the limit of {limit}: this is {best}.");
            self.paragraph(self.styles.warning, &warning);
        }

        self.paragraph(self.styles.faint, &total(reasoning));
    }

    /// Adds what is known after an interruption. `unfinished` is the estimated number of tokens of
    /// the thought that was being written.
    pub(super) fn interrupted(&mut self, reasoning: &Reasoning, unfinished: u64) {
        let Styles { warning, faint, .. } = self.styles;

        self.line(&format!("{warning}Interrupted{warning:#}"));
        if let Some(plan) = reasoning.plan() {
            self.plan(plan);
        }

        let mut cost = total(reasoning);
        if unfinished > 0 {
            cost += &format!(", and about {unfinished} tokens of an unfinished thought");
        }
        self.paragraph(faint, &cost);
    }
}

/// Returns the number of thoughts, and what they cost.
fn total(reasoning: &Reasoning) -> String {
    let thoughts = reasoning.thoughts().len();
    let plural = if thoughts == 1 { "" } else { "s" };

    format!("{thoughts} thought{plural}, {}", Cost(reasoning.spent()))
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
