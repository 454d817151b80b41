//! The commands that don't run a flow.

use std::path::Path;

use cogwork_agents::{FileError, Loader};
use cogwork_eval::Suite;
use cogwork_flow::BoxError;
use cogwork_text::Escaped;

use crate::arguments::{Check, Draw};
use crate::output::{Ended, Exit, tell, write};

/// Returns a loader with the tools of the command.
pub(crate) fn loader() -> Loader {
    // So that a file can be tried without writing a program.
    Loader::new().with_tools(cogwork_eval::calculator())
}

/// Returns whether a file isn't a flow because it is a suite.
pub(crate) fn is_suite(error: &FileError) -> bool {
    let is_unknown = |key: &str| {
        let start = format!("unknown key `{key}`");
        let mut problems = error.problems().iter();
        problems.any(|problem| problem.path.is_empty() && problem.message.starts_with(&start))
    };
    is_unknown("problems") && is_unknown("arms")
}

/// Returns whether a file is a flow, perhaps one with problems.
pub(crate) fn is_flow(file: &Path) -> bool {
    match loader().without_clients().load(file) {
        Ok(_) => true,
        Err(error) => {
            let mut problems = error.problems().iter();
            problems.any(|problem| problem.path.starts_with("nodes["))
        }
    }
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
        Err(error) if is_suite(&error) => {
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
