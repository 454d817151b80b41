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
mod signals;
#[cfg(feature = "studio")]
mod studio;
mod trace;

use std::process::ExitCode;

use clap::Parser;

use arguments::{Arguments, Command};
use output::{Ended, Exit};

fn main() -> ExitCode {
    let command = Arguments::parse().command;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();

    let ended = runtime.map_err(Into::into).and_then(|runtime| {
        let ended = runtime.block_on(execute(&command));
        // Nothing waits for a read of standard input, which not every platform can cancel.
        runtime.shutdown_background();
        ended
    });

    match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => Exit::after(&error).into(),
    }
}

async fn execute(command: &Command) -> Ended {
    match command {
        Command::Check(check) => commands::check(check),
        Command::Draw(draw) => commands::draw(draw),
        Command::Schema => commands::schema(),
        Command::Run(run) => run::run(run).await,
        Command::Fork(fork) => run::fork(fork).await,
        Command::Runs(runs) => runs::runs(runs).await,
        Command::Eval(eval) => eval::eval(eval).await,
        Command::Trace(trace) => trace::trace(trace).await,
        #[cfg(feature = "studio")]
        Command::Studio(studio) => studio::studio(studio).await,
        #[cfg(feature = "mcp")]
        Command::Mcp(mcp) => mcp::mcp(mcp).await,
    }
}
