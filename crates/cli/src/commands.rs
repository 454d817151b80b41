//! The commands that don't run a flow.

use std::path::Path;

use cogwork_agents::Loader;
use cogwork_eval::Suite;
use cogwork_flow::BoxError;
use cogwork_text::Escaped;

use crate::arguments::{Check, Draw};
use crate::output::{Ended, Exit, read_text, tell, write};

/// Returns a loader with the tools of the command.
pub(crate) fn loader() -> Loader {
    // So that a file can be tried without writing a program.
    Loader::new().with_tools(cogwork_eval::calculator())
}

/// The maximum size of a file that may be a suite, in bytes.
const MOST_BYTES: u64 = 64 * 1024 * 1024;

/// Returns whether a file is a suite, perhaps one with problems.
fn is_suite(file: &Path) -> bool {
    let text = read_text(file, MOST_BYTES).unwrap_or_default();
    let text = text.trim_start_matches('\u{feff}');
    text.lines().any(|line| line.starts_with("arms:"))
}

pub(crate) fn check(arguments: &Check) -> Ended {
    let loader = match arguments.no_environment {
        true => loader().without_clients(),
        false => loader().with_process_environment(),
    };

    // All files are checked, also after one with problems.
    let mut ended = Ok(());
    for file in &arguments.files {
        match check_file(&loader, file) {
            Ok(result) => write(format_args!("{}: {result}", Escaped::new(file.display())))?,
            Err(problems) => {
                tell(format_args!("{problems:#}"));
                ended = Err(Exit::Problems.into());
            }
        }
    }
    ended
}

fn check_file(loader: &Loader, file: &Path) -> Result<&'static str, BoxError> {
    match loader.load(file) {
        Err(_) if is_suite(file) => {
            Suite::load(file, loader)?;
            Ok("ok, a suite for `cogwork eval`")
        }
        Err(error) => Err(error.into()),
        Ok(_) => Ok("ok"),
    }
}

pub(crate) fn draw(arguments: &Draw) -> Ended {
    let loaded = loader().without_clients().load(&arguments.file)?;
    write(loaded.flow().mermaid())
}

pub(crate) fn schema() -> Ended {
    write(format_args!("{:#}", loader().schema()))
}
