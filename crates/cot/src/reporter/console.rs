use std::fmt::{self, Write as _};
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use cogwork_llm::LlmError;
use cogwork_plan::{ChangeKind, Plan, Status, Step};
use cogwork_text::{MultiLine, Name, OneLine};
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};

use crate::{Reasoning, ReplyProblem, Reporter, Rung, Spent, Thought, ToolUse, Working};

/// Prints each thought: its number, the evaluation and the thinking, the plan as a tree with its
/// progress, what changed, the cost, and the answer at the end.
///
/// On a terminal, the output is in colour, with a spinner on standard error while the model works.
/// Otherwise, or if `NO_COLOR` is set, the output is plain text. Control characters in the texts of
/// the model are replaced.
///
/// ```no_run
/// use cogwork_cot::{ChainOfThought, ConsoleReporter, ScriptedClient};
///
/// let node = ChainOfThought::new(ScriptedClient::new(["…"])).with_reporter(ConsoleReporter::stdout());
/// ```
pub struct ConsoleReporter {
    out: Mutex<Box<dyn Write + Send>>,
    styles: Styles,
    spinners: Option<MultiProgress>,
}

impl ConsoleReporter {
    /// Creates a reporter that writes to standard output. The output is in colour if it is a
    /// terminal and `NO_COLOR` is not set, and there is a spinner if standard error is a terminal.
    pub fn stdout() -> Self {
        let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let spinners = io::stderr().is_terminal().then(MultiProgress::new);
        let reporter = Self::to(io::stdout()).with_colors(io::stdout().is_terminal() && !plain);

        Self {
            spinners,
            ..reporter
        }
    }

    /// Creates a reporter that writes plain text to `out`, without a spinner.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Mutex::new(Box::new(out)),
            styles: Styles::default(),
            spinners: None,
        }
    }

    /// Sets whether the output is in colour. The default depends on the constructor.
    #[must_use]
    pub fn with_colors(mut self, colored: bool) -> Self {
        self.styles = if colored {
            Styles::colored()
        } else {
            Styles::default()
        };
        self
    }

    /// Writes a piece at once, so that the lines of concurrent runs do not mix. A closed pipe is
    /// ignored.
    fn print(&self, text: &str) {
        let write = || {
            let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        };
        match &self.spinners {
            Some(spinners) => spinners.suspend(write),
            None => write(),
        }
    }
}

impl Reporter for ConsoleReporter {
    fn started(&self, reasoning: &Reasoning) {
        let Styles { heading, .. } = self.styles;
        let problem = MultiLine::new(reasoning.problem().trim());
        self.print(&format!("{heading}Problem{heading:#}\n{problem}\n\n"));
    }

    fn working(&self, thought_number: u32) -> Working {
        let Some(spinners) = &self.spinners else {
            return Working::default();
        };

        let spinner = spinners.add(ProgressBar::new_spinner());
        if let Ok(style) =
            ProgressStyle::with_template("{spinner:.cyan} Thought {msg} … {elapsed:.dim}")
        {
            spinner.set_style(style);
        }

        spinner.set_message(thought_number.to_string());
        spinner.enable_steady_tick(Duration::from_millis(100));
        Working::until_dropped(Spinner(spinner))
    }

    fn tool_returned(&self, _: u32, used: &ToolUse) {
        self.print(&self.styles.tool_use(used));
    }

    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        let Styles { warning, .. } = self.styles;
        let problem = OneLine::new(problem);
        self.print(&format!(
            "{warning}Thought {thought_number}: asking again: {problem}{warning:#}\n\n"
        ));
    }

    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        let Styles { warning, .. } = self.styles;
        let error = OneLine::new(error);
        self.print(&format!(
            "{warning}Thought {thought_number}: the server refuses {refused}, asking by {next}: {error}{warning:#}\n\n"
        ));
    }

    fn thought(&self, reasoning: &Reasoning) {
        self.print(&self.styles.thought(reasoning).unwrap_or_default());
    }

    fn answered(&self, reasoning: &Reasoning) {
        self.print(&self.styles.answered(reasoning).unwrap_or_default());
    }
}

/// The maximum number of characters of the line of a tool call.
const TOOL_WIDTH: usize = 100;
/// The maximum number of characters of the input in this line.
const TOOL_INPUT_WIDTH: usize = 40;

struct Spinner(ProgressBar);

impl Drop for Spinner {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

/// The style of each kind of text. By default, all are plain.
#[derive(Debug, Clone, Copy, Default)]
struct Styles {
    heading: Style,
    evaluation: Style,
    faint: Style,
    good: Style,
    warning: Style,
}

impl Styles {
    fn colored() -> Self {
        Self {
            heading: AnsiColor::Cyan.on_default().bold(),
            evaluation: Style::new().italic(),
            faint: Style::new().dimmed(),
            good: AnsiColor::Green.on_default(),
            warning: AnsiColor::Yellow.on_default(),
        }
    }

    fn thought(&self, reasoning: &Reasoning) -> Result<String, fmt::Error> {
        let Self {
            heading,
            evaluation,
            faint,
            warning,
            ..
        } = self;

        let mut text = String::new();
        let Some(thought) = reasoning.thoughts().last() else {
            return Ok(text);
        };

        let number = thought.thought_number();
        writeln!(text, "{heading}Thought {number}{heading:#}")?;
        let thinking = thought.current_thinking().trim();

        match thinking.split_once('\n') {
            // The instructions ask the model to begin with the evaluation of the last thought.
            Some((first, rest)) if number > 1 => {
                writeln!(
                    text,
                    "{evaluation}{}{evaluation:#}\n{}\n",
                    OneLine::new(first),
                    MultiLine::new(rest)
                )?;
            }
            _ => writeln!(text, "{}\n", MultiLine::new(thinking))?,
        }

        let progress = thought.planning().progress();
        writeln!(
            text,
            "{heading}Plan{heading:#}  {}  {progress}",
            self.bar(progress.fraction())
        )?;

        self.tree(&mut text, thought.planning())?;
        self.changes(&mut text, reasoning, thought)?;
        let repairs = thought.trace().repairs.len();

        if repairs > 0 {
            let plural = if repairs == 1 { "" } else { "s" };
            writeln!(
                text,
                "{faint}The reply was read after {repairs} repair{plural}.{faint:#}"
            )?;
        }

        if thought.trace().truncated {
            writeln!(
                text,
                "{warning}The reply ends in the middle of a step, which was left out.{warning:#}"
            )?;
        }

        if thought.trace().ended_early {
            writeln!(
                text,
                "{warning}Ended although steps of the plan are not done.{warning:#}"
            )?;
        }

        writeln!(text, "{faint}{}{faint:#}\n", Cost(thought.trace().spent))?;
        Ok(text)
    }

    /// Returns one line with the call and the beginning of its result.
    fn tool_use(&self, used: &ToolUse) -> String {
        let style = if used.failed {
            self.warning
        } else {
            self.faint
        };
        let sign = if used.failed { "✗" } else { "→" };

        let name = Name(&used.name);
        let input = OneLine::new(&used.input).with_max_chars(TOOL_INPUT_WIDTH);
        let line = format!("{name} {input} {sign} {}", used.output);
        let line = OneLine::new(line).with_max_chars(TOOL_WIDTH);

        format!("{style}{line}{style:#}\n")
    }

    fn answered(&self, reasoning: &Reasoning) -> Result<String, fmt::Error> {
        let Self {
            heading,
            faint,
            good,
            ..
        } = self;

        let mut text = String::new();
        let answer = MultiLine::new(reasoning.answer().unwrap_or_default().trim());
        writeln!(text, "{heading}Answer{heading:#}\n{good}{answer}{good:#}\n")?;
        let thoughts = reasoning.thoughts().len();
        let plural = if thoughts == 1 { "" } else { "s" };

        writeln!(
            text,
            "{faint}{thoughts} thought{plural}, {}{faint:#}",
            Cost(reasoning.spent())
        )?;

        Ok(text)
    }

    fn bar(&self, fraction: f64) -> String {
        const WIDTH: usize = 20;
        let Self { good, faint, .. } = self;
        let full = ((fraction * WIDTH as f64) as usize).min(WIDTH);

        format!(
            "{good}{}{good:#}{faint}{}{faint:#}",
            "━".repeat(full),
            "┄".repeat(WIDTH - full)
        )
    }

    fn tree(&self, text: &mut String, plan: &Plan) -> fmt::Result {
        // For each level, whether it has more steps below, and so needs a line on the left.
        let mut lines: Vec<bool> = Vec::new();
        let mut left: Vec<usize> = vec![plan.steps().len()];
        for entry in plan.walk() {
            left.truncate(entry.depth);
            lines.truncate(entry.depth - 1);
            let last = left.last_mut().is_none_or(|left| {
                *left -= 1;
                *left == 0
            });
            let Self { faint, .. } = self;

            write!(text, "{faint}")?;
            for more in &lines {
                text.push_str(if *more { "│  " } else { "   " });
            }

            write!(text, "{}{faint:#}", if last { "└─ " } else { "├─ " })?;
            self.step(text, entry.step)?;
            lines.push(!last);
            left.push(entry.step.sub_steps.len());
        }

        Ok(())
    }

    fn step(&self, text: &mut String, step: &Step) -> fmt::Result {
        let (style, sign) = match step.status {
            Status::Done => (self.good, "✓"),
            Status::Pending => (self.faint, "·"),
            Status::VerificationNeeded => (self.warning, "?"),
        };

        write!(
            text,
            "{style}{sign}{style:#} {}",
            OneLine::new(&step.description)
        )?;

        if let Some(result) = &step.result {
            write!(text, ": {style}{}{style:#}", OneLine::new(result))?;
        }

        if let Some(mark) = &step.mark {
            write!(text, " {style}({}){style:#}", OneLine::new(mark))?;
        }

        text.push('\n');
        Ok(())
    }

    fn changes(&self, text: &mut String, reasoning: &Reasoning, thought: &Thought) -> fmt::Result {
        let Self { heading, .. } = self;
        let Some(previous) = reasoning.previous_plan() else {
            return Ok(());
        };

        let changes = thought.planning().changes_since(previous);
        if changes.is_empty() {
            return writeln!(text, "{heading}Changed{heading:#} nothing");
        }

        writeln!(text, "{heading}Changed{heading:#}")?;
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

            writeln!(text, "  {}", OneLine::new(change))?;
        }

        Ok(())
    }
}

/// The tokens and seconds of a turn, for display. Estimated tokens are marked as estimated.
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

impl fmt::Debug for ConsoleReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleReporter")
            .field("spinner", &self.spinners.is_some())
            .finish_non_exhaustive()
    }
}
