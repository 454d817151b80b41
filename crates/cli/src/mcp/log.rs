//! The log on standard error.

use std::io::{self, Write};
use std::panic;

use cogwork_text::Escaped;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::output::tell;

/// Starts the log. The SDK logs whole messages at the level of details, so only its warnings are shown.
pub(crate) fn start() {
    let targets = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("cogwork", LevelFilter::DEBUG);
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(|| Lines(io::stderr()));

    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .init();
}

/// Prints panics without characters that could control a terminal.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|panic| tell(format_args!("cogwork: {panic}"))));
}

/// Writes each event on one line, without characters that could control a terminal or look like
/// another line. The layer escapes only some of them.
struct Lines(io::Stderr);

impl Write for Lines {
    fn write(&mut self, event: &[u8]) -> io::Result<usize> {
        // The layer writes whole events.
        let text = String::from_utf8_lossy(event);
        writeln!(self.0, "{}", Escaped::new(text.trim_end()))?;
        Ok(event.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}
