//! The menu of the programs `tour` and `cookbook`, and the code of the guides as tests.

use std::env;
use std::error::Error;
use std::process::ExitCode;

/// The name of an example, what it shows, and its `main`.
pub type Example = (
    &'static str,
    &'static str,
    fn() -> Result<(), Box<dyn Error>>,
);

/// Runs the example whose name is the first argument of the program. Without an argument, lists all.
pub fn run(examples: &[Example]) -> ExitCode {
    let list = || {
        let line = |(name, about, _): &Example| format!("{name:26}{about}\n");
        examples.iter().map(line).collect::<String>()
    };

    let Some(wanted) = env::args().nth(1) else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };

    let Some((_, _, main)) = examples.iter().find(|(name, _, _)| *name == wanted) else {
        eprint!(
            "there is no example `{wanted}`; the examples are:\n{}",
            list()
        );
        return ExitCode::from(2);
    };

    match main() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("Error: {error:?}");
            ExitCode::FAILURE
        }
    }
}

/// The code in README and the guides, compiled and run as doctests.
#[cfg(doctest)]
mod guides {
    #[doc = include_str!("../../README.md")]
    struct Readme;
    #[doc = include_str!("../../docs/guide/first-flow.md")]
    struct FirstFlow;
    #[doc = include_str!("../../docs/guide/the-loop.md")]
    struct TheLoop;
    #[doc = include_str!("../../docs/guide/a-custom-backend.md")]
    struct ACustomBackend;
    #[doc = include_str!("../../docs/guide/models.md")]
    struct Models;
    #[doc = include_str!("../../docs/guide/typed-answers.md")]
    struct TypedAnswers;
    #[cfg(feature = "mcp")]
    #[doc = include_str!("../../docs/guide/agents-with-tools.md")]
    struct AgentsWithTools;
    #[doc = include_str!("../../docs/guide/strategies.md")]
    struct Strategies;
    #[doc = include_str!("../../docs/guide/flows-from-files.md")]
    struct FlowsFromFiles;
    #[doc = include_str!("../../docs/guide/a-run-that-survives.md")]
    struct ARunThatSurvives;
    #[doc = include_str!("../../docs/guide/seeing-and-serving-runs.md")]
    struct SeeingAndServingRuns;
    #[cfg(feature = "mcp")]
    #[doc = include_str!("../../docs/guide/assistants.md")]
    struct Assistants;
    #[doc = include_str!("../../docs/guide/scale.md")]
    struct Scale;
}
