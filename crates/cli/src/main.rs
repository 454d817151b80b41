//! The command `cogwork`: checks, draws and runs flows that are written as YAML files.
//!
//! `cogwork help` describes the arguments; the exit codes are in [`arguments::EXIT_CODES`].

mod arguments;
mod commands;
mod eval;
#[cfg(feature = "mcp")]
mod mcp;
mod output;
mod run;
mod runs;
#[cfg(any(feature = "mcp", feature = "studio"))]
mod signals;
#[cfg(feature = "studio")]
mod studio;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Command::Check(check) => commands::check(&check),
        Command::Draw(draw) => commands::draw(&draw),
        Command::Schema => commands::schema(),
        Command::Run(run) => run::run(&run),
        Command::Fork(fork) => run::fork(&fork),
        Command::Runs(runs) => runs::runs(&runs),
        Command::Eval(eval) => eval::eval(&eval),
        Command::Trace(trace) => trace::trace(&trace),
        #[cfg(feature = "studio")]
        Command::Studio(studio) => studio::studio(&studio),
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => mcp::mcp(&mcp),
    };
    outcome.into()
}
