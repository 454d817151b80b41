//! The commands that don't run a flow.

use std::path::Path;

use cogwork_agents::{FileFlow, Loader};
use cogwork_text::Escaped;

use crate::arguments::{Check, Draw};
use crate::output::{Outcome, tell, write};

/// Returns a loader with the tools of the command.
pub(crate) fn loader() -> Loader {
    Loader::new().with_tools(cogwork_eval::calculator())
}

pub(crate) fn check(arguments: &Check) -> Outcome {
    let loader = loader();
    let loader = if arguments.no_environment {
        loader.without_clients()
    } else {
        loader.with_process_environment()
    };

    let mut outcome = Outcome::Success;
    for file in &arguments.files {
        outcome = match load(&loader, file) {
            Some(_) if outcome == Outcome::Success => write_ok(file),
            Some(_) => outcome,
            None => Outcome::Problems,
        };
    }

    outcome
}

fn write_ok(file: &Path) -> Outcome {
    let file = Escaped::new(file.display());
    write(format_args!("{file}: ok"))
}

pub(crate) fn draw(arguments: &Draw) -> Outcome {
    let Some(loaded) = load(&loader().without_clients(), &arguments.file) else {
        return Outcome::Problems;
    };

    write(loaded.flow().mermaid())
}

pub(crate) fn schema() -> Outcome {
    write(format_args!("{:#}", loader().schema()))
}

/// Loads the flow of a file, or prints its problems.
pub(crate) fn load(loader: &Loader, file: &Path) -> Option<FileFlow> {
    let problems = match loader.load(file) {
        Ok(loaded) => return Some(loaded),
        Err(error) => error,
    };
    problems.problems().iter().for_each(tell);
    None
}
