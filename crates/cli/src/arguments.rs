//! The command line.

#[cfg(feature = "mcp")]
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use cogwork_eval::Pick;
use serde_json::Value;

/// The exit codes, as shown by `--help`.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  success
  1  a file has problems, which are listed on standard error
  2  the command line is wrong
  3  the run failed
  4  the input or the journal could not be read, or the output, journal or page not written
  5  the run waits for an answer, and there is no terminal to ask
  130  the run was interrupted (Ctrl-C, SIGTERM)";

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
    /// Lists all problems of flows and suites, with line and column.
    ///
    /// Some checks need another mistake to be fixed first: the settings of a node or mode of unknown type or provider,
    /// and the tools, slots and edges of a node with an unknown or malformed setting.
    Check(Check),
    /// Draws the flow of a file.
    Draw(Draw),
    /// Prints the JSON Schema of files, for editors.
    Schema,
    /// Runs the flow of a file and prints its answer.
    ///
    /// If the run waits for an answer, the command asks for it on the terminal: y, yes, n and no are true and false;
    /// anything else is JSON if it can be read as such, and a text otherwise. Without a terminal, it exits with code 5.
    #[command(after_help = EXIT_CODES)]
    Run(Run),
    /// Starts a new run from a step of a recorded one.
    ///
    /// The steps before the one given by --at are taken from its journal without making a call, with the outcomes that
    /// they had. The journal of the new run is in the same place, and names the run and the step that it comes from. The
    /// other run isn't changed. `cogwork runs --journal DIR RUN` lists the steps of a run.
    #[command(after_help = EXIT_CODES)]
    Fork(Fork),
    /// Lists recorded runs, or what is recorded of one of them, with times in UTC.
    Runs(Runs),
    /// Compares ways to ask on the problems of a suite, and prints a table in Markdown.
    ///
    /// Every run is kept in a journal. The command continues where it was interrupted, without repeating a recorded
    /// call, and tries runs that failed again. Another arm or problem costs only itself.
    #[command(after_help = EVAL_HELP)]
    Eval(Eval),
    /// Makes a page of a run.
    ///
    /// The page is one HTML file, which a browser opens without a network. Texts of a long run are shortened, and
    /// the page shows what was left out.
    Trace(Trace),
    /// Serves a page over recorded runs on this machine.
    ///
    /// The page lists the runs, shows each while it is executed, has forms that answer runs that wait, and compares two
    /// runs side by side.
    ///
    /// Open the address that it prints, which contains a token. The page is served on 127.0.0.1 only, until the command
    /// is interrupted.
    #[cfg(feature = "studio")]
    Studio(Studio),
    /// Serves reasoning tools to an assistant, over the Model Context Protocol (MCP).
    ///
    /// Assistants start this command themselves. Add it to their settings as a server with the command `cogwork` and
    /// the argument `mcp`. It reads requests from standard input and answers on standard output until the input ends,
    /// or until it is interrupted; requests in progress are finished within a few seconds.
    #[cfg(feature = "mcp")]
    #[command(after_help = MCP_HELP)]
    Mcp(Mcp),
}

/// The exit codes of the command `eval`.
const EVAL_HELP: &str = "\
Exit codes:
  0  success
  1  the suite has problems, which are listed on standard error
  2  the command line is wrong
  3  no arm meets --pick, an arm doesn't meet --require, an arm is worse than in --baseline, or runs that these need
     were not made
  4  the journals or the table could not be read or written
  130  the evaluation was interrupted (Ctrl-C, SIGTERM)";

/// Further help for the command `mcp`.
#[cfg(feature = "mcp")]
const MCP_HELP: &str = "\
Environment:
  COGWORK_TOKEN  the tokens of clients over HTTP, separated by white space. Clients with different tokens have no
                 access to each other's sessions. Without any, a new one is printed on standard error at each start.
  OPENAI_MODEL   the model of the tool `solve`, with OPENAI_BASE_URL and OPENAI_API_KEY

Exit codes:
  0  the client disconnected, or the server was stopped
  1  the file of --flow has problems, which are listed on standard error
  2  the command line is wrong
  3  the client doesn't speak the protocol
  4  a tool doesn't exist, a token is refused, a file or the sessions could not be opened, or the address is not
     available";

#[cfg(feature = "mcp")]
#[derive(Debug, Args)]
pub(crate) struct Mcp {
    /// The folder in which sessions are kept. The default is the folder `cogwork` among the data of the current user.
    #[arg(long, value_name = "DIR", conflicts_with = "memory")]
    pub(crate) data: Option<PathBuf>,
    /// Keep sessions in memory only. They are lost at the end.
    #[arg(long)]
    pub(crate) memory: bool,
    /// The tools to offer, separated by commas: sequentialthinking, reason, think, think_session or solve. The default
    /// is the first two, and solve with --flow.
    #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
    pub(crate) tools: Option<Vec<String>>,
    /// A flow from a file, with which the tool `solve` solves problems.
    #[arg(long, value_name = "FILE")]
    pub(crate) flow: Option<PathBuf>,
    /// A table of strategies in YAML, which `think` can follow in addition to the built-in ones.
    #[arg(long, value_name = "FILE")]
    pub(crate) strategies: Option<PathBuf>,
    /// Serve clients over HTTP at this address, such as 127.0.0.1:8080, at the path /mcp,
    /// instead of one over standard input and output. Connections are not encrypted.
    #[arg(long, value_name = "ADDR")]
    pub(crate) http: Option<SocketAddr>,
    /// Accept requests that call this server by this name, in addition to the local ones. Can be repeated.
    #[arg(long, value_name = "HOST", requires = "http")]
    pub(crate) allow_host: Vec<String>,
    /// Accept requests of web pages from this origin, such as https://example.com:443, in addition to those of this
    /// machine. Can be repeated.
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    pub(crate) allow_origin: Vec<String>,
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
}

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// The file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The input of the flow; `-` reads it from standard input.
    #[arg(
        long,
        short,
        value_name = "TEXT",
        allow_hyphen_values = true,
        required_unless_present = "resume",
        conflicts_with = "resume"
    )]
    pub(crate) input: Option<String>,
    /// Keep a journal of the run here, so that it can be resumed after a crash, an error or a wait, and shown: a folder,
    /// a SQLite database (a file that ends with .db, .sqlite or .sqlite3), or the address of a PostgreSQL database
    /// (postgres://…). The id of the run is printed on standard error.
    #[arg(long, value_name = "PLACE")]
    pub(crate) journal: Option<String>,
    /// The id of the new run, by which lists name it. By default, it is the time.
    #[arg(
        long,
        value_name = "RUN",
        requires = "journal",
        conflicts_with = "resume"
    )]
    pub(crate) id: Option<String>,
    /// Resume the run with this id. No recorded call is made again.
    #[arg(long, value_name = "RUN", requires = "journal")]
    pub(crate) resume: Option<String>,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// How a run is executed and shown.
#[derive(Debug, Args)]
pub(crate) struct RunOptions {
    /// Answer an event that the run waits for, now or later: JSON, or else a text. Can be repeated.
    #[arg(long = "answer", value_name = "EVENT=VALUE", value_parser = named)]
    pub(crate) answers: Vec<Named>,
    /// Make a page of the run: one HTML file, which shows requests and replies of models, plans, tokens and times. An
    /// existing file is replaced.
    #[arg(long, value_name = "HTML", value_parser = page)]
    pub(crate) page: Option<PathBuf>,
    /// Leave the texts of what happens out of the journal and the page: only steps, times, tokens and costs are
    /// written, also if the run is continued. The journal still has the outcomes of all steps, without which the run could
    /// not be resumed.
    #[arg(long)]
    pub(crate) no_content: bool,
    /// Write only what is needed to resume the run in the journal, also if it is continued. There is no page of it.
    #[arg(long, conflicts_with = "page")]
    pub(crate) no_events: bool,
    /// Show the replies of models on standard error as they are written, if the server streams them. This is the default
    /// on a terminal.
    #[arg(long, conflicts_with = "quiet")]
    pub(crate) stream: bool,
    /// Print everything as JSON: every visit to a node with its output, replies and cost, and the error if the run
    /// failed or was interrupted.
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

#[derive(Debug, Args)]
pub(crate) struct Fork {
    /// The file with the flow of the run. It may have been edited since, for example its prompts.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The id of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Where the journal of the run is: a folder, a SQLite database, or the address of a PostgreSQL database.
    #[arg(long, value_name = "PLACE")]
    pub(crate) journal: String,
    /// The first step that is executed anew: a number, such as 7; a visit to a node, such as writer:2 for the second
    /// one to `writer`, or loop/run/think:3 for the third thought of `loop`; or `end`, to continue from where the record ends.
    #[arg(long, value_name = "STEP", value_parser = fork_at)]
    pub(crate) at: ForkAt,
    /// Take this as the outcome of that step, instead of executing it: the text of its answer, with which it leaves by
    /// the recorded action, or the whole outcome as --show prints it.
    #[arg(long, value_name = "VALUE", allow_hyphen_values = true)]
    pub(crate) outcome: Option<String>,
    /// Take this as the outcome of a part of that step: of an item, a branch or a call, with its name as --show prints
    /// it. The text of the part, or the whole outcome as --show prints it. Can be repeated.
    #[arg(long, value_name = "NAME=VALUE", value_parser = named)]
    pub(crate) outcome_of: Vec<Named>,
    /// Use the state in this file before that step. --show prints the recorded one.
    #[arg(long, value_name = "FILE")]
    pub(crate) state: Option<PathBuf>,
    /// Print what can be changed at that step as JSON, and start nothing: the recorded outcomes, and the state before it.
    #[arg(long)]
    pub(crate) show: bool,
    /// The id of the new run. By default, it is numbered.
    #[arg(long, value_name = "ID")]
    pub(crate) id: Option<String>,
    /// Accept a flow whose nodes or edges have changed since the run was recorded.
    #[arg(long)]
    pub(crate) changed_flow: bool,
    #[command(flatten)]
    pub(crate) options: RunOptions,
}

/// A name with a value.
pub(crate) type Named = (String, Value);

/// Reads `NAME=VALUE`.
fn named(argument: &str) -> Result<Named, &'static str> {
    let named = argument
        .split_once('=')
        .filter(|(name, _)| !name.is_empty());
    let (name, value) = named.ok_or("expected a name, `=`, and a value")?;
    Ok((name.to_owned(), json_or_text(value)))
}

/// Where a run is forked.
#[derive(Debug, Clone)]
pub(crate) enum ForkAt {
    Step(u64),
    Visit { node: String, number: u64 },
    End,
}

fn fork_at(argument: &str) -> Result<ForkAt, &'static str> {
    if argument == "end" {
        return Ok(ForkAt::End);
    }

    if let Ok(number) = argument.parse() {
        return Ok(ForkAt::Step(number));
    }

    let visit = argument.rsplit_once(':').and_then(|(node, number)| {
        let node = node.to_owned();
        let number = number.parse().ok()?;
        Some(ForkAt::Visit { node, number })
    });
    visit.ok_or("expected the number of a step, a node and the number of a visit such as `think:3`, or `end`")
}

#[derive(Debug, Args)]
pub(crate) struct Runs {
    /// Where the journals of the runs are: a folder, a SQLite database, or the address of a PostgreSQL database.
    #[arg(long, value_name = "PLACE")]
    pub(crate) journal: String,
    /// List what is recorded of the run with this id. Outcomes and answers are not shown.
    #[arg(value_name = "RUN")]
    pub(crate) run: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct Eval {
    /// The suite.
    #[arg(value_name = "SUITE")]
    pub(crate) suite: PathBuf,
    /// Where the journals of the runs are: a folder, a SQLite database, or the address of a PostgreSQL database. The
    /// default is a folder beside the suite, with the name of the suite and `.runs`.
    #[arg(long, value_name = "PLACE")]
    journal: Option<String>,
    /// Print the table as JSON, with all runs.
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print the table as CSV.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write a page with the table, accuracy against cost, bars by tag, and all runs. An existing file is replaced.
    #[arg(long, value_name = "HTML", value_parser = page)]
    pub(crate) page: Option<PathBuf>,
    /// Also write a page of each run, to which the page links, into a folder beside it: `NAME-runs`.
    #[arg(long, requires = "page")]
    pub(crate) run_pages: bool,
    /// Choose an arm, such as 'accuracy >= 0.8, least cost', and print its name on standard error.
    #[arg(long, value_name = "CONDITIONS")]
    pub(crate) pick: Option<Pick>,
    /// Write the flow of the chosen arm into this file.
    #[arg(long, short, value_name = "FILE", requires = "pick")]
    pub(crate) output: Option<PathBuf>,
    /// Fail if an arm doesn't meet these conditions, such as 'accuracy >= 0.8'.
    #[arg(long, value_name = "CONDITIONS")]
    pub(crate) require: Option<Pick>,
    /// Fail if the interval of an arm is below the one in this earlier table of --json.
    #[arg(long, value_name = "TABLE")]
    pub(crate) baseline: Option<PathBuf>,
    /// Show no progress on standard error.
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl Eval {
    pub(crate) fn journal(&self) -> String {
        let beside = || self.suite.with_extension("runs").display().to_string();
        self.journal.clone().unwrap_or_else(beside)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Trace {
    /// The id of the run.
    #[arg(value_name = "RUN")]
    pub(crate) run: String,
    /// Where the journal of the run is: a folder, a SQLite database, or the address of a PostgreSQL database.
    #[arg(long, value_name = "PLACE")]
    pub(crate) journal: String,
    /// The page. An existing file is replaced.
    #[arg(long, short, value_name = "HTML", value_parser = page)]
    pub(crate) output: PathBuf,
}

/// Reads the path of a page. Without the ending, a mix-up of options could replace a journal.
fn page(argument: &str) -> Result<PathBuf, &'static str> {
    let path = PathBuf::from(argument);
    let is_page = path.extension().is_some_and(|ending| ending == "html");
    is_page
        .then_some(path)
        .ok_or("expected a file that ends with .html")
}

/// Reads a value as JSON, or else as a text.
pub(crate) fn json_or_text(value: &str) -> Value {
    match serde_json::from_str(value) {
        // A number that would be written differently may be a version or an id.
        Ok(Value::Number(number)) if number.to_string() != value.trim() => value.into(),
        Ok(value) => value,
        Err(_) => value.into(),
    }
}

#[cfg(feature = "studio")]
#[derive(Debug, Args)]
pub(crate) struct Studio {
    /// Where the journals of the runs are: a folder, a SQLite database, or the address of a PostgreSQL database.
    #[arg(long, value_name = "PLACE")]
    pub(crate) journal: String,
    /// A flow from a file that the page can start, and whose runs it resumes after an answer. Can be repeated.
    #[arg(long = "flow", value_name = "FILE")]
    pub(crate) flows: Vec<PathBuf>,
    /// The port. By default, the system chooses a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub(crate) port: u16,
    /// The maximum number of steps of a run that is started or resumed here.
    #[arg(long, value_name = "STEPS", default_value_t = 1000, value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) max_steps: u64,
}
