//! The menu of the programs `tour` and `cookbook`, and the code of the guides as tests.

use std::env;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

/// The name of an example, and its `main`.
pub type Example = (&'static str, fn() -> Result<(), Box<dyn Error>>);

/// Runs the example whose name is the first argument of the program. Without an argument, lists all.
pub fn run(folder: &str, examples: &[Example]) -> ExitCode {
    let list = || {
        let line = |(name, _): &Example| format!("{name:26}{}\n", about(folder, name));
        examples.iter().map(line).collect::<String>()
    };

    let Some(wanted) = env::args().nth(1) else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };

    let Some((_, main)) = examples.iter().find(|(name, _)| *name == wanted) else {
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

/// Returns the first sentence of the header of an example.
fn about(folder: &str, name: &str) -> String {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let source = fs::read_to_string(file.join(name).with_extension("rs")).unwrap_or_default();

    let header = source.lines().map_while(|line| line.strip_prefix("//! "));
    let header = header.collect::<Vec<_>>().join(" ");
    let sentence = header.split(". ").next().unwrap_or_default();
    sentence.trim_end_matches('.').to_owned()
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
    #[cfg(feature = "studio")]
    #[doc = include_str!("../../docs/guide/a-run-that-survives.md")]
    struct ARunThatSurvives;
    #[doc = include_str!("../../docs/guide/seeing-and-serving-runs.md")]
    struct SeeingAndServingRuns;
    #[cfg(feature = "mcp")]
    #[doc = include_str!("../../docs/guide/assistants.md")]
    struct Assistants;
    #[cfg(feature = "postgres")]
    #[doc = include_str!("../../docs/guide/scale.md")]
    struct Scale;
}
