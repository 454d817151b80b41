//! The reporter for people at a console.

mod live;
mod page;
mod styles;
mod wrap;

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use console::Term;
use indicatif::{ProgressDrawTarget, TermLike};

use crate::{Reasoning, ReasoningEvent, Reporter};
use live::Live;
use page::Page;
use styles::Styles;
use wrap::MAX_COLUMNS;

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
/// use cogwork_cot::{ChainOfThought, ConsoleReporter};
/// use cogwork_llm::ScriptedClient;
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
/// use cogwork_cot::{ChainOfThought, ConsoleReporter, Reasoning};
/// use cogwork_flow::CancellationToken;
/// use cogwork_llm::ScriptedClient;
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
    out: Mutex<Box<dyn Write + Send>>,
    styles: Styles,
    /// The terminal to whose width lines are wrapped.
    terminal: Option<Box<dyn TermLike>>,
    live: Option<Live>,
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
            reporter.terminal = Some(Box::new(Term::stdout()));
        }
        if io::stderr().is_terminal() {
            let target = ProgressDrawTarget::stderr();
            reporter.live = Some(Live::new(target, Box::new(Term::stderr())));
        }

        reporter
    }

    /// Creates a reporter that writes plain text to `out`, without wrapping lines or showing
    /// growing thoughts.
    pub fn to(out: impl Write + Send + 'static) -> Self {
        Self {
            out: Mutex::new(Box::new(out)),
            styles: Styles::default(),
            terminal: None,
            live: None,
        }
    }

    /// Sets whether the output is in colour. The default depends on the constructor.
    #[must_use]
    pub fn with_colors(mut self, colored: bool) -> Self {
        self.styles = Styles::new(colored);
        self
    }

    /// Shows growing thoughts on this terminal, and wraps lines to its width. For tests.
    #[doc(hidden)]
    #[must_use]
    pub fn with_terminal(mut self, terminal: impl TermLike + Clone + 'static) -> Self {
        let target = ProgressDrawTarget::term_like(Box::new(terminal.clone()));

        self.live = Some(Live::new(target, Box::new(terminal.clone())));
        self.terminal = Some(Box::new(terminal));
        self
    }

    /// Prints a summary of a run that was interrupted: the plan, the number of thoughts, and what
    /// they cost. Call this after the run was cancelled or dropped.
    pub fn interrupted(&self, reasoning: &Reasoning) {
        self.print(|page| page.interrupted(reasoning));
    }

    fn print(&self, write: impl FnOnce(&mut Page)) {
        let columns = self.terminal.as_ref().map(|terminal| terminal.width());
        let mut page = Page {
            styles: self.styles,
            width: columns.map(|columns| usize::from(columns).min(MAX_COLUMNS)),
            text: String::new(),
        };
        write(&mut page);

        if page.text.is_empty() {
            return;
        }
        match &self.live {
            // The lines that change are drawn again below.
            Some(live) => live.above(|| self.write(&page.text)),
            None => self.write(&page.text),
        }
    }

    /// Writes a text at once, so that the lines of concurrent runs do not mix. A closed pipe is
    /// ignored.
    fn write(&self, text: &str) {
        let mut out = self.out.lock().unwrap_or_else(PoisonError::into_inner);
        // A closed pipe must not end a run that costs money.
        let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    }
}

impl Reporter for ConsoleReporter {
    fn event(&self, event: &ReasoningEvent) {
        self.print(|page| page.event(event));
        if let Some(live) = &self.live {
            live.event(event, self.styles.faint);
        }
    }
}

impl fmt::Debug for ConsoleReporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConsoleReporter")
            .field("live", &self.live.is_some())
            .finish_non_exhaustive()
    }
}
