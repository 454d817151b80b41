//! The part of a terminal that changes while the model works.

use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anstyle::Style;
use cogwork_text::MultiLine;
use indicatif::{
    MultiProgress, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle, TermLike,
};

use super::out::Out;
use super::width::MAX_COLUMNS;
use super::wrap;

/// The maximum number of lines that are shown of a growing thought.
const MAX_LINES: usize = 6;

/// The time between two frames.
const TICK: Duration = Duration::from_millis(100);

/// The number of bytes by which the beginning of the shown text moves at once, so that its lines
/// don't move with every piece.
const STRIDE: usize = 512;

/// The thoughts that are being written, below the finished output.
#[derive(Clone)]
pub(super) struct Live {
    bars: MultiProgress,
    size: Size,
    working: Arc<Mutex<Vec<Writing>>>,
}

/// The size of a terminal.
#[derive(Debug, Clone, Copy)]
pub(super) enum Size {
    /// That of standard error, which may change.
    OfStderr,
    Fixed {
        columns: u16,
        rows: u16,
    },
}

/// A thought that is being written.
struct Writing {
    thought_number: u32,
    /// The size of the reply so far, in bytes.
    bytes: Arc<AtomicUsize>,
    bar: ProgressBar,
}

impl Live {
    pub(super) fn on_stderr() -> Self {
        Self::new(MultiProgress::new(), Size::OfStderr)
    }

    pub(super) fn on(out: &Out, columns: u16, rows: u16) -> Self {
        let screen = Screen {
            out: out.clone(),
            frame: Mutex::default(),
            columns,
            rows,
        };
        let target = ProgressDrawTarget::term_like(Box::new(screen));

        Self::new(
            MultiProgress::with_draw_target(target),
            Size::Fixed { columns, rows },
        )
    }

    fn new(bars: MultiProgress, size: Size) -> Self {
        Self {
            bars,
            size,
            working: Arc::default(),
        }
    }

    /// Shows that the model works, until the guard is dropped.
    pub(super) fn begin(&self, thought_number: u32) -> Guard {
        let bytes = Arc::new(AtomicUsize::new(0));
        let bar = self.bars.add(ProgressBar::new_spinner());

        if let Some(style) = style(Arc::clone(&bytes)) {
            bar.set_style(style);
        }
        bar.set_prefix(thought_number.to_string());
        bar.enable_steady_tick(TICK);

        self.writing().push(Writing {
            thought_number,
            bytes: Arc::clone(&bytes),
            bar: bar.clone(),
        });

        Guard {
            live: self.clone(),
            bytes,
            bar,
        }
    }

    /// Counts a piece of a reply. It is shown with the next tick.
    pub(super) fn count(&self, thought_number: u32, piece: &str) {
        if let Some(writing) = find(&mut self.writing(), thought_number) {
            writing.bytes.fetch_add(piece.len(), Ordering::Relaxed);
        }
    }

    /// Shows the end of the text so far.
    pub(super) fn show(&self, thought_number: u32, text: &str, style: Style) {
        let tail = self.tail(text);
        let lines: Vec<String> = tail
            .iter()
            .map(|line| format!("  {style}{line}{style:#}"))
            .collect();

        if let Some(writing) = find(&mut self.writing(), thought_number) {
            writing.bar.set_message(lines.join("\n"));
        }
    }

    /// Writes finished output above.
    pub(super) fn above(&self, write: impl FnOnce()) {
        self.bars.suspend(write);
    }

    /// Returns the last lines of a text, as many as fit.
    fn tail(&self, text: &str) -> Vec<String> {
        let Size::Fixed { columns, rows } = self.size.now() else {
            return Vec::new();
        };

        let width = usize::from(columns).saturating_sub(3).min(MAX_COLUMNS);
        let count = (usize::from(rows) / 3).clamp(1, MAX_LINES);
        let shown = end_of(text, width * count * BYTES_PER_COLUMN);

        let safe = MultiLine::new(shown).to_string();
        let lines = wrap::lines(&safe, Some(width));
        let skipped = lines.len().saturating_sub(count);
        lines.into_iter().skip(skipped).collect()
    }

    fn writing(&self) -> MutexGuard<'_, Vec<Writing>> {
        self.working.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// More than enough bytes to fill a column, except with many combining characters.
const BYTES_PER_COLUMN: usize = 4;

/// Returns the end of a text, from the beginning of a line or of a word.
fn end_of(text: &str, bytes: usize) -> &str {
    let skipped = text.len().saturating_sub(bytes) / STRIDE * STRIDE;
    let begin = (skipped..text.len()).find(|at| text.is_char_boundary(*at));
    let end = begin.and_then(|begin| text.get(begin..)).unwrap_or(text);

    match end.split_once(char::is_whitespace) {
        Some((_, rest)) if skipped > 0 && rest.len() > bytes / 2 => rest,
        _ => end,
    }
}

/// Returns the style of a line with the number of the thought, the time and the tokens so far, and
/// of the lines of the thought below it.
fn style(bytes: Arc<AtomicUsize>) -> Option<ProgressStyle> {
    let template = "{spinner:.cyan} Thought {prefix} … {elapsed:.dim}{tokens:.dim}\n{msg}";
    let style = ProgressStyle::with_template(template).ok()?;

    let write_tokens = move |_: &ProgressState, line: &mut dyn fmt::Write| {
        let tokens = tokens(bytes.load(Ordering::Relaxed));

        if tokens > 0 {
            let _ = write!(line, ", about {tokens} tokens");
        }
    };

    Some(style.with_key("tokens", write_tokens))
}

/// Returns the estimated number of tokens, as clients estimate it: one per four bytes.
pub(super) fn tokens(bytes: usize) -> u64 {
    u64::try_from(bytes.div_ceil(4)).unwrap_or(u64::MAX)
}

fn find(writing: &mut [Writing], thought_number: u32) -> Option<&mut Writing> {
    writing
        .iter_mut()
        .find(|writing| writing.thought_number == thought_number)
}

impl Size {
    /// Returns the size at this moment.
    fn now(self) -> Self {
        let Self::OfStderr = self else {
            return self;
        };

        let (rows, columns) = console::Term::stderr().size();
        Self::Fixed { columns, rows }
    }
}

/// Removes what is shown of a thought when it is dropped.
pub(super) struct Guard {
    live: Live,
    bytes: Arc<AtomicUsize>,
    bar: ProgressBar,
}

impl Drop for Guard {
    fn drop(&mut self) {
        let is_other = |writing: &Writing| !Arc::ptr_eq(&writing.bytes, &self.bytes);

        self.live.writing().retain(is_other);
        self.bar.finish_and_clear();
        self.live.bars.remove(&self.bar);
    }
}

/// A writer as a terminal. Each frame is written at once.
struct Screen {
    out: Out,
    frame: Mutex<String>,
    columns: u16,
    rows: u16,
}

impl Screen {
    fn write(&self, text: &str) -> io::Result<()> {
        self.frame().push_str(text);
        Ok(())
    }

    fn frame(&self) -> MutexGuard<'_, String> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn move_cursor(&self, by: usize, direction: char) -> io::Result<()> {
        if by == 0 {
            return Ok(());
        }
        self.write(&format!("\u{1b}[{by}{direction}"))
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        self.columns
    }

    fn height(&self) -> u16 {
        self.rows
    }

    fn move_cursor_up(&self, by: usize) -> io::Result<()> {
        self.move_cursor(by, 'A')
    }

    fn move_cursor_down(&self, by: usize) -> io::Result<()> {
        self.move_cursor(by, 'B')
    }

    fn move_cursor_right(&self, by: usize) -> io::Result<()> {
        self.move_cursor(by, 'C')
    }

    fn move_cursor_left(&self, by: usize) -> io::Result<()> {
        self.move_cursor(by, 'D')
    }

    fn write_line(&self, text: &str) -> io::Result<()> {
        self.write(&format!("{text}\n"))
    }

    fn write_str(&self, text: &str) -> io::Result<()> {
        self.write(text)
    }

    fn clear_line(&self) -> io::Result<()> {
        self.write("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let frame = std::mem::take(&mut *self.frame());
        self.out.write(&frame);
        Ok(())
    }
}

impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").finish_non_exhaustive()
    }
}
