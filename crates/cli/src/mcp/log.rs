//! The log on standard error.

use std::{io, panic};

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use crate::output::tell;

/// Starts the log. The SDK logs whole messages at the level of details, so only its warnings are shown.
pub(crate) fn start() {
    let targets = Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("cogwork", LevelFilter::DEBUG);
    // The layer escapes most control characters, such as those that begin the codes of terminals.
    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(io::stderr);

    tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .init();
}

/// Prints panics without characters that could control a terminal.
pub(crate) fn report_panics() {
    panic::set_hook(Box::new(|panic| tell(format_args!("cogwork: {panic}"))));
}
