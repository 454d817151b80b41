//! Standard output, standard error and the exit code.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use cogwork_text::files::Folder;
use cogwork_text::{Escaped, MultiLine};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Success,
    Problems,
    RunFailed,
    NotReadOrWritten,
    Waiting,
    Interrupted,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        Self::from(match outcome {
            Outcome::Success => 0,
            Outcome::Problems => 1,
            // 2 is used for errors of the command line.
            Outcome::RunFailed => 3,
            Outcome::NotReadOrWritten => 4,
            Outcome::Waiting => 5,
            // The code that shells report for a program ended by SIGINT.
            Outcome::Interrupted => 130,
        })
    }
}

/// Prints a result. A closed pipe is not an error.
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

/// Prints a message for people. Errors are ignored, because there is no other place to report them.
pub(crate) fn tell(line: impl Display) {
    // Control characters are removed even if this is not a terminal, because logs may be viewed in
    // one later.
    let line = harmless(&line.to_string());

    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Removes characters from a text that could control a terminal.
pub(crate) fn harmless(text: &str) -> String {
    MultiLine::new(text).to_string()
}

/// Returns a runtime on this thread.
pub(crate) fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

/// Reads a file, which may be a link. An error begins with its path.
pub(crate) fn read_text(file: &Path, most: u64) -> Result<String, String> {
    let opened = Folder::of_linked_file(file);
    let text = opened.and_then(|(folder, name)| folder.read_text_file(name, most));
    text.map_err(|error| format!("{}: {error}", Escaped::new(file.display())))
}
