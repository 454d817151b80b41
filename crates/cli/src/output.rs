//! What goes to standard output and standard error, and the exit code.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::process::ExitCode;

use cogwork_text::MultiLine;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Problems,
    RunFailed,
    NotReadOrWritten,
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Success => 0,
            Outcome::Problems => 1,
            // 2 is of the command line.
            Outcome::RunFailed => 3,
            Outcome::NotReadOrWritten => 4,
            // As shells say it of a program that was ended by SIGINT.
            Outcome::Interrupted => 130,
        })
    }
}

/// Writes what was asked for. A pipe that its reader has closed is the reader's choice, and no failure.
pub(crate) fn write(text: impl Display) -> Outcome {
    let mut out = io::stdout().lock();
    let text = text.to_string();
    let text = if out.is_terminal() {
        harmless(&text)
    } else {
        text
    };

    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            tell(format_args!(
                "cogwork: the output could not be written: {error}"
            ));
            Outcome::NotReadOrWritten
        }
        _ => Outcome::Success,
    }
}

/// Tells a person something. Where it cannot be told there is nobody to tell that to.
pub(crate) fn tell(line: impl Display) {
    // Also where this is no terminal now: logs are read on one later.
    let line = harmless(&line.to_string());

    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Returns a text without what could steer a terminal, whoever wrote it.
pub(crate) fn harmless(text: &str) -> String {
    MultiLine::new(text).to_string()
}
