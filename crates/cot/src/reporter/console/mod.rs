//! The reporter for people at a console.

mod live;
mod out;
mod page;
mod styles;
mod tree;
mod width;
mod wrap;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};

use cogwork_llm::LlmError;
use cogwork_text::OneLine;

use crate::{Growth, Limit, Reasoning, ReplyProblem, Reporter, Rung, ToolCallRecord, Working};
use live::Live;
use out::Out;
use page::Page;
use styles::Styles;
use width::{MAX_COLUMNS, Width};

/// Prints each thought: its number, the evaluation and the thinking, the plan as a tree with its
/// progress, what changed, the cost, and the answer at the end.
///
/// On a terminal, the output is in colour and wrapped to the width of the terminal, at most 100
/// columns. While the model works, the end of the growing thought is shown, with the time and the
/// estimated number of tokens so far; the finished thought replaces it. If `NO_COLOR` is set, there
/// are no colours.
///
/// Otherwise, the output is plain text: without colours, without wrapping, and nothing is shown of
/// a thought before it is finished. In either case, control characters in the texts of the model
/// are replaced.
///
/// ```no_run
/// use cogwork_cot::{ChainOfThought, ConsoleReporter, ScriptedClient};
///
/// let node = ChainOfThought::new(ScriptedClient::new(["…"])).with_reporter(ConsoleReporter::stdout());
/// ```
///
/// # Interrupting a run
///
/// If the program ends in the middle of a thought, the last frame stays on the terminal. To end
/// cleanly, cancel the run, which removes it, and print a summary:
///
/// ```no_run
/// use std::sync::Arc;
///
/// use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning, ScriptedClient};
/// use cogwork_flow::CancellationToken;
///
/// # async fn interruptible() -> Result<(), Box<dyn std::error::Error>> {
/// let console = Arc::new(ConsoleReporter::stdout());
/// let flow = ChainOfThought::new(ScriptedClient::new(["…"])).with_reporter(Arc::clone(&console)).into_flow();
/// let mut reasoning = Reasoning::new("What is 2 + 2?");
///
/// let token = CancellationToken::new(); // cancelled elsewhere, when Ctrl-C is pressed
/// let run = flow.begin().with_cancellation(token.clone()).finish(&mut reasoning).await;
///
/// if token.is_cancelled() {
///     console.interrupted(&reasoning);
/// }
/// # run?;
/// # Ok(())
/// # }
/// ```
pub struct ConsoleReporter {
    out: Out,
    styles: Styles,
    width: Width,
    live: Option<Live>,
    /// The size of the replies since the last thought, in bytes.
    unfinished: AtomicUsize,
}

impl ConsoleReporter {
    /// Creates a reporter that writes to standard output. If that is a terminal, the output is
    /// wrapped, and in colour unless `NO_COLOR` is set. Growing thoughts are shown if standard
    /// error is a terminal.
    pub fn stdout() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let is_colored = std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());

        let mut reporter = Self::to(io::stdout()).with_colors(is_terminal && is_colored);
        if is_terminal {
            reporter.width = Width::OfStdout;
        }

        reporter.live = io::stderr().is_terminal().then(Live::on_stderr);
        reporter
    }

    /// Creates a reporter that writes plain text to `out`, without wrapping lines or showing
    /// growing thoughts.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Out::new(out),
            styles: Styles::default(),
            width: Width::Unlimited,
            live: None,
            unfinished: AtomicUsize::new(0),
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

    /// Sets the width of the output, in columns. Longer lines are wrapped, with at least 16 columns
    /// for the text. The default depends on the constructor.
    #[must_use]
    pub fn with_width(mut self, columns: usize) -> Self {
        self.width = Width::Columns(columns);
        self
    }

    /// Treats the writer as a terminal of this size: lines are wrapped to its width, at most 100
    /// columns, and growing thoughts are shown in up to a third of its height. Use this for
    /// terminals other than the one of the process.
    #[must_use]
    pub fn with_screen(mut self, columns: u16, rows: u16) -> Self {
        let width = usize::from(columns).min(MAX_COLUMNS);

        self.live = Some(Live::on(&self.out, columns, rows));
        self.with_width(width)
    }

    /// Prints a summary of a run that was interrupted: the plan, the number of thoughts, and what
    /// they cost. Call this after the run was cancelled or dropped.
    pub fn interrupted(&self, reasoning: &Reasoning) {
        let unfinished = live::tokens(self.unfinished.swap(0, Ordering::Relaxed));

        self.print(|page| page.interrupted(reasoning, unfinished));
    }

    fn print(&self, write: impl FnOnce(&mut Page)) {
        let mut page = Page::new(self.styles, self.width.columns());
        write(&mut page);
        let text = page.into_text();

        match &self.live {
            Some(live) => live.above(|| self.out.write(&text)),
            None => self.out.write(&text),
        }
    }
}

impl Reporter for ConsoleReporter {
    fn started(&self, reasoning: &Reasoning) {
        self.print(|page| page.problem(reasoning.problem()));
    }

    fn working(&self, thought_number: u32) -> Working {
        match &self.live {
            Some(live) => Working::until_dropped(live.begin(thought_number)),
            None => Working::default(),
        }
    }

    fn delta(&self, thought_number: u32, text: &str) {
        self.unfinished.fetch_add(text.len(), Ordering::Relaxed);

        if let Some(live) = &self.live {
            live.count(thought_number, text);
        }
    }

    fn thinking(&self, thought_number: u32, growth: Growth<'_>) {
        if let Some(live) = &self.live {
            live.show(thought_number, growth.text(), self.styles.faint);
        }
    }

    fn tool_returned(&self, _: u32, used: &ToolCallRecord) {
        self.print(|page| page.tool_use(used));
    }

    fn asking_again(&self, thought_number: u32, problem: &ReplyProblem) {
        let problem = OneLine::new(problem);
        let text = format!("Thought {thought_number}: asking again: {problem}");

        self.print(|page| page.warning(&text));
    }

    fn format_refused(&self, thought_number: u32, refused: Rung, next: Rung, error: &LlmError) {
        let error = OneLine::new(error);
        let text = format!(
            "Thought {thought_number}: the server refuses {refused}, asking by {next}: {error}"
        );

        self.print(|page| page.warning(&text));
    }

    fn concluding(&self, thought_number: u32, limit: Limit) {
        let text = format!(
            "Thought {thought_number}: concluding, because the limit of {limit} is nearly reached"
        );

        self.print(|page| page.warning(&text));
    }

    fn thought(&self, reasoning: &Reasoning) {
        self.unfinished.store(0, Ordering::Relaxed);
        self.print(|page| page.thought(reasoning));
    }

    fn answered(&self, reasoning: &Reasoning) {
        self.print(|page| page.answer(reasoning));
    }
}

impl fmt::Debug for ConsoleReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleReporter")
            .field("live", &self.live.is_some())
            .finish_non_exhaustive()
    }
}
