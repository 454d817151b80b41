//! The commands that don't run a flow.

use cogwork_agents::Loader;
use cogwork_text::Escaped;

use crate::arguments::{Check, Draw};
use crate::output::{Ended, Exit, tell, write};

/// Returns a loader with the tools of the command.
pub(crate) fn loader() -> Loader {
    // So that a file can be tried without writing a program.
    Loader::new().with_tools(cogwork_eval::calculator())
}

pub(crate) fn check(arguments: &Check) -> Ended {
    let loader = match arguments.no_environment {
        true => loader().without_clients(),
        false => loader().with_process_environment(),
    };

    // All files are checked, also after one with problems.
    let mut ended = Ok(());
    for file in &arguments.files {
        match loader.load(file) {
            Ok(_) => write(format_args!("{}: ok", Escaped::new(file.display())))?,
            Err(problems) => {
                tell(format_args!("{problems:#}"));
                ended = Err(Exit::Problems.into());
            }
        }
    }
    ended
}

pub(crate) fn draw(arguments: &Draw) -> Ended {
    let loaded = loader().without_clients().load(&arguments.file)?;
    write(loaded.flow().mermaid())
}

pub(crate) fn schema() -> Ended {
    write(format_args!("{:#}", loader().schema()))
}
