//! What the command line may hold.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// As `--help` and the guide say them.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  a file has problems, which are listed on standard error
  2  the command line is wrong
  3  the run failed
  4  the input could not be read, or the output not written
  130  the run was interrupted (Ctrl-C)";

/// Checks, draws and runs flows that are written as YAML files.
///
/// ${NAME} in a file is taken from the environment. What came from there is shown in no error, drawing or schema.
#[derive(Debug, Parser)]
#[command(name = "cogwork", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Tells everything that is wrong with files, each problem with its line and column.
    ///
    /// Only what hangs on a mistake waits for it: the settings of an unknown type of node or mode; and the slots
    /// and edges of a node, where one of its settings is unknown or has the wrong form.
    Check(Check),
    /// Draws the flow of a file.
    Draw(Draw),
    /// Writes the JSON Schema of a file, for editors.
    Schema(Schema),
    /// Runs the flow of a file and writes its answer.
    Run(Run),
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Counts every ${NAME} as set, and makes no client: for machines that have no keys.
    #[arg(long)]
    pub(crate) no_environment: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Draw {
    /// The file. Nothing is taken from the environment for it.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The language of the drawing.
    #[arg(long, value_enum, default_value_t = Format::Mermaid)]
    pub(crate) format: Format,
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub(crate) enum Format {
    /// A Mermaid flowchart.
    Mermaid,
    /// The DOT language of Graphviz.
    Graphviz,
}

#[derive(Debug, Args)]
pub(crate) struct Schema {
    /// Writes only the fingerprint, which changes when files may hold something else.
    #[arg(long)]
    pub(crate) fingerprint: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// What the flow is given; `-` reads it from standard input.
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) input: String,
    /// Writes everything as JSON: what every node said, what it cost, and the error of a run that failed or was
    /// interrupted.
    #[arg(long)]
    pub(crate) json: bool,
    /// Shows no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The most steps of the run.
    #[arg(long, value_name = "STEPS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: u64,
    /// The most time of the run, in seconds. Without it there is no limit.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) timeout: Option<u64>,
}
