//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// The exit codes, as shown by `--help` and in the guide.
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
/// ${NAME} in a file is replaced from the environment. No error, drawing or schema shows values from there.
#[derive(Debug, Parser)]
#[command(name = "cogwork", version, after_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Lists all problems of files, with line and column.
    ///
    /// Some checks need another mistake to be fixed first: the settings of a node or mode of unknown type, and the
    /// slots and edges of a node with an unknown or malformed setting.
    Check(Check),
    /// Draws the flow of a file.
    Draw(Draw),
    /// Prints the JSON Schema of files, for editors.
    Schema(Schema),
    /// Runs the flow of a file and prints its answer.
    Run(Run),
}

#[derive(Debug, Args)]
pub(crate) struct Check {
    /// The files.
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// Treat every ${NAME} as set, and create no clients: for machines without keys.
    #[arg(long)]
    pub(crate) no_environment: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Draw {
    /// The file. The environment is not used.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The format of the drawing.
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
    /// Print only the fingerprint, which changes with the format of files.
    #[arg(long)]
    pub(crate) fingerprint: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The input of the flow; `-` reads it from standard input.
    #[arg(long, short, value_name = "TEXT", allow_hyphen_values = true)]
    pub(crate) input: String,
    /// Print everything as JSON: the outputs of all nodes, the cost, and the error if the run failed or was
    /// interrupted.
    #[arg(long)]
    pub(crate) json: bool,
    /// Show no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
    /// The maximum number of steps.
    #[arg(long, value_name = "STEPS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: u64,
    /// The maximum time of the run, in seconds. By default, there is no limit.
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    pub(crate) timeout: Option<u64>,
}
