//! The log on standard error.

use std::io;
use std::panic;

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
        .with_writer(Lines::default);

    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .init();
}

/// Prints panics without characters that could control a terminal.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|panic| tell(format_args!("cogwork: {panic}"))));
}

/// Prints each event when it is complete, without characters that could control a terminal.
#[derive(Default)]
struct Lines(Vec<u8>);

impl io::Write for Lines {
    fn write(&mut self, text: &[u8]) -> io::Result<usize> {
        self.0.extend_from_slice(text);
        Ok(text.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        let text = String::from_utf8_lossy(&self.0);
        tell(text.trim_end());
    }
}
