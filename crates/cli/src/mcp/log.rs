//! The log on standard error.

use std::io;
use std::panic;

use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::{SubscriberInitExt, TryInitError};

use crate::output::tell;

/// The variable that sets what is logged.
const VARIABLE: &str = "COGWORK_LOG";

/// Starts the log if it is asked for, on the command line or in the environment.
pub(crate) fn start(verbose: bool) -> Result<(), String> {
    let setting = std::env::var(VARIABLE).unwrap_or_default();
    let targets = match setting.as_str() {
        "" if verbose => usual(),
        "" => return Ok(()),
        setting => setting.parse().map_err(|error| {
            format!("{VARIABLE}: {error}; expected levels such as `info` or `cogwork_mcp=debug`")
        })?,
    };

    let lines = tracing_subscriber::fmt::layer()
        .with_ansi(false)
        .with_writer(Lines::default);
    let started = tracing_subscriber::registry()
        .with(lines)
        .with(targets)
        .try_init();
    started.map_err(|error: TryInitError| error.to_string())
}

/// The SDK logs whole messages at the level of details, so only its warnings are shown.
fn usual() -> Targets {
    Targets::new()
        .with_default(LevelFilter::WARN)
        .with_target("cogwork", LevelFilter::DEBUG)
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
