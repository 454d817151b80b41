//! Standard output, standard error, files and the exit code.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::{self, Display};
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;
use std::sync::OnceLock;

use cogwork_agents::{FileError, FileFlow};
use cogwork_flow::BoxError;
use cogwork_text::files::{self, Folder};
use cogwork_text::{Escaped, MultiLine};
use serde_json::Value;

/// How a command ended. An error that isn't an [`Exit`] still has to be printed.
pub(crate) type Ended = Result<(), BoxError>;

/// Why a command failed, after the reason has been printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    Problems,
    RunFailed,
    NotReadOrWritten,
    Waiting,
    Interrupted,
}

impl Exit {
    /// Prints an error, unless it has been printed.
    pub(crate) fn after(error: &BoxError) -> Self {
        if let Some(exit) = error.downcast_ref::<Self>() {
            return *exit;
        }
        // One line for each problem, which begins with its place, as compilers do.
        if let Some(error) = error.downcast_ref::<FileError>() {
            tell(format_args!("{error:#}"));
            return Self::Problems;
        }

        tell(format_args!("cogwork: {error:#}"));
        Self::NotReadOrWritten
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Problems => 1,
            // 2 is used for errors of the command line.
            Exit::RunFailed => 3,
            Exit::NotReadOrWritten => 4,
            Exit::Waiting => 5,
            // The code that shells report for a program ended by SIGINT.
            Exit::Interrupted => 130,
        })
    }
}

impl Display for Exit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self:?}")
    }
}

impl Error for Exit {}

type Hide = dyn Fn(&str) -> String + Send + Sync;

/// Hides the secrets of the flow that the command runs. The flow itself would never be dropped here,
/// so that its memories would not be closed.
static HIDE: OnceLock<Box<Hide>> = OnceLock::new();

/// Hides the values that a flow took from the environment in all messages that follow.
pub(crate) fn hide_secrets_of(flow: &FileFlow) {
    // A command runs one flow.
    let _ = HIDE.set(Box::new(flow.hider()));
}

pub(crate) fn without_secrets(text: &str) -> String {
    match HIDE.get() {
        Some(hide) => hide(text),
        None => text.to_owned(),
    }
}

/// Prints a result. A closed pipe isn't an error.
pub(crate) fn write(text: impl Display) -> Ended {
    let mut out = io::stdout().lock();
    let mut text = text.to_string();
    // A file or a pipe gets the answer of the model as it is.
    if out.is_terminal() {
        text = harmless(&without_secrets(&text));
    }

    let written = writeln!(out, "{}", text.trim_end_matches('\n')).and_then(|()| out.flush());
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(format!("the output could not be written: {error}").into())
        }
        _ => Ok(()),
    }
}

/// Prints a result as JSON, without secrets.
pub(crate) fn write_json(mut value: Value) -> Ended {
    hide_in(&mut value);
    write(format_args!("{value:#}"))
}

/// Hides secrets in each text by itself, because a part of a secret may look like the JSON around
/// it.
fn hide_in(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_secrets(text),
        Value::Array(items) => items.iter_mut().for_each(hide_in),
        Value::Object(entries) => entries.values_mut().for_each(hide_in),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Prints a message for people, without secrets. Errors are ignored, because there is no other place
/// to report them.
pub(crate) fn tell(line: impl Display) {
    // Control characters are removed even if this is not a terminal, because logs may be viewed in
    // one later.
    let line = harmless(&without_secrets(&line.to_string()));

    let _ = writeln!(io::stderr().lock(), "{line}");
}

/// Removes characters from a text that could control a terminal.
pub(crate) fn harmless(text: &str) -> String {
    MultiLine::new(text).to_string()
}

/// Reads a file, which may be a link. An error begins with its path.
pub(crate) fn read_text(file: &Path, most: u64) -> Result<String, String> {
    let opened = Folder::of_linked_file(file);
    let text = opened.and_then(|(folder, name)| folder.read_text_file(name, most));
    text.map_err(|error| format!("{}: {error}", Escaped::new(file.display())))
}

/// Writes a file, in place of one that may be there. An error begins with its path.
pub(crate) fn replace_file(file: &Path, contents: &[u8]) -> Result<(), String> {
    beside(file, |folder, name| folder.replace(name, contents))
}

/// Checks that [`replace_file`] can write a file, before a user pays for what is written.
pub(crate) fn check_replaceable(file: &Path) -> Result<(), String> {
    let probe = format!(".cogwork-{}.new", std::process::id());
    beside(file, |folder, name| {
        folder.has_file(name)?;
        folder.replace(&probe, b"")?;
        folder.remove_file(&probe)
    })
}

/// Does something with the folder of a file.
fn beside(
    file: &Path,
    act: impl FnOnce(&Folder, OsString) -> Result<(), files::Error>,
) -> Result<(), String> {
    let done = Folder::of_file(file).and_then(|(folder, name)| act(&folder, name));
    done.map_err(|error| {
        let file = Escaped::new(file.display());
        format!("{file}: could not be written: {error}")
    })
}
