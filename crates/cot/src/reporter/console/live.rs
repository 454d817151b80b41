//! The part of a terminal that changes while the model works.

use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstyle::Style;
use cogwork_text::MultiLine;
use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike,
};

use super::wrap::{self, MAX_COLUMNS};
use crate::ReasoningEvent;

/// The maximum number of lines that are shown of a growing thought.
const MAX_LINES: usize = 6;

/// The number of bytes that are kept of a growing thought, which fill these lines.
const KEPT_BYTES: usize = 2_048;

/// The time between two frames.
const TICK: Duration = Duration::from_millis(100);

/// The thoughts that are being written, below the finished output.
pub(super) struct Live {
    bars: MultiProgress,
    terminal: Box<dyn TermLike>,
    working: Mutex<Vec<Writing>>,
}

/// A thought that is being written. The position of the bar is the size of the replies in bytes.
struct Writing {
    thought: u32,
    /// The end of the text so far.
    text: String,
    bar: ProgressBar,
}

impl Live {
    /// Draws on a target, which is `terminal`.
    pub(super) fn new(target: ProgressDrawTarget, terminal: Box<dyn TermLike>) -> Self {
        Self {
            bars: MultiProgress::with_draw_target(target),
            terminal,
            working: Mutex::default(),
        }
    }

    /// Shows what happens. `style` is that of the text of a thought.
    pub(super) fn event(&self, event: &ReasoningEvent, style: Style) {
        match event {
            ReasoningEvent::Working { thought } => self.begin(*thought),
            ReasoningEvent::ReplyPiece { thought, text } => self.change(*thought, |writing| {
                writing.bar.inc(u64::try_from(text.len()).unwrap_or(0));
            }),
            ReasoningEvent::Thinking {
                thought,
                text,
                is_start,
            } => self.change(*thought, |writing| {
                writing.grow(text, *is_start);
                writing.bar.set_message(self.tail(&writing.text, style));
            }),
            ReasoningEvent::Stopped { thought } => self.end(*thought),
            _ => {}
        }
    }

    /// Writes finished output above.
    pub(super) fn above(&self, write: impl FnOnce()) {
        self.bars.suspend(write);
    }

    fn begin(&self, thought: u32) {
        let bar = ProgressBar::new_spinner().with_prefix(thought.to_string());
        let bar = self.bars.add(bar.with_style(style()));
        bar.enable_steady_tick(TICK);

        self.working().push(Writing {
            thought,
            text: String::new(),
            bar,
        });
    }

    fn end(&self, thought: u32) {
        let mut working = self.working();
        let ended = working
            .iter()
            .position(|writing| writing.thought == thought);

        if let Some(ended) = ended {
            let writing = working.remove(ended);
            writing.bar.finish_and_clear();
            self.bars.remove(&writing.bar);
        }
    }

    /// Changes a thought. If several runs are at the thought with this number, nobody knows which
    /// one it is.
    fn change(&self, thought: u32, change: impl FnOnce(&mut Writing)) {
        let mut working = self.working();
        let mut found = working
            .iter_mut()
            .filter(|writing| writing.thought == thought);

        // Several runs may share a reporter, and their thoughts have the same numbers.
        if let (Some(writing), None) = (found.next(), found.next()) {
            change(writing);
        }
    }

    /// Returns the last lines of a text, as many as fit.
    fn tail(&self, text: &str, style: Style) -> String {
        let columns = usize::from(self.terminal.width());
        // A line that is as wide as the terminal would be wrapped by it, and never cleared.
        let width = columns.saturating_sub(3).min(MAX_COLUMNS);
        let count = usize::from(self.terminal.height() / 3).clamp(1, MAX_LINES);

        let lines = wrap::lines(&MultiLine::new(text).to_string(), Some(width));
        let skipped = lines.len().saturating_sub(count);
        let shown: Vec<_> = lines
            .iter()
            .skip(skipped)
            .map(|line| format!("  {style}{line}{style:#}"))
            .collect();

        shown.join("\n")
    }

    fn working(&self) -> MutexGuard<'_, Vec<Writing>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Writing {
    fn grow(&mut self, piece: &str, is_start: bool) {
        if is_start {
            self.text.clear();
        }
        self.text.push_str(piece);

        // Seldom, so that the lines don't move with every piece.
        if self.text.len() > 2 * KEPT_BYTES {
            let mut ends = self.text.len() - KEPT_BYTES..;
            let end = ends.find(|end| self.text.is_char_boundary(*end));
            self.text.drain(..end.unwrap_or(0));
        }
    }
}

/// Returns the style of a line with the number of the thought, the time and the tokens so far, and
/// of the lines of the thought below it.
fn style() -> ProgressStyle {
    let template = "{spinner:.cyan} Thought {prefix} … {elapsed:.dim}{tokens:.dim}\n{msg}";
    let style = ProgressStyle::with_template(template);

    style
        .unwrap_or_else(|_| ProgressStyle::default_spinner())
        .with_key(
            "tokens",
            |state: &ProgressState, line: &mut dyn fmt::Write| {
                let tokens = tokens(state.pos());

                if tokens > 0 {
                    let _ = write!(line, ", about {tokens} tokens");
                }
            },
        )
}

/// Returns the estimated number of tokens, as clients estimate it: one per four bytes.
fn tokens(bytes: u64) -> u64 {
    bytes.div_ceil(4)
}
