//! Runs of one flow in files, SQLite, PostgreSQL and Restate, whose processes are killed with signal 9
//! at random moments, and so are the servers. The flow has all that a flow can have, and runs are also
//! forked. Every call is counted outside of the store, to show that no recorded call is made again, and
//! that no outcome is lost.
//!
//! ```text
//! $ cargo test -p cogwork-restate --test kills -- postgres --kills 500
//! runs: 151, forks: 115, kills of the server: 25
//! calls: 10808, in progress at a kill: 552
//! kills: 500, recorded calls: 10256, made twice: 0, lost: 0
//! ```
//!
//! The stores are `files`, `sqlite`, `postgres`, which needs `initdb` (see `scripts/local-postgres`), and
//! `restate`, whose server is downloaded by `scripts/local-restate`. Restate doesn't fork workflows. Without
//! arguments, all stores that other tests use are tested, with 25 kills each, or 500 if
//! `COGWORK_LONG_TESTS` is set and Restate is one of them.

mod flow;
mod harness;
mod place;
mod postgres;
mod process;
mod restate;
mod stores;
mod tally;
mod witness;

use std::env;
use std::error::Error;
use std::path::Path;
use std::process::ExitCode;

use harness::Harness;
use restate::Restate;
use stores::Stores;
use witness::Witness;

type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

async fn kill(place: &str, kills: u64) -> Result<bool> {
    let folder = tempfile::tempdir()?;
    let witness = Witness::within(folder.path());

    match place {
        "restate" => {
            let restate = Restate::start(folder.path()).await?;
            Harness::new(restate, witness).await?.kill(kills).await
        }
        _ => {
            let stores = Stores::start(place, folder.path())?;
            Harness::new(stores, witness).await?.kill(kills).await
        }
    }
}

/// Tests all stores that other tests use. Arguments are those of `cargo test` for all programs.
async fn kill_all(arguments: &[&str]) -> Result<bool> {
    let is_filter = |argument: &&str| !argument.starts_with('-') && !"kills".contains(*argument);
    if arguments.iter().any(is_filter) {
        return Ok(true);
    }

    let is_set = |variable| env::var_os(variable).is_some();
    // The check of all engines has its own run, which the other tests needn't repeat.
    let kills = match is_set("COGWORK_LONG_TESTS") && is_set("RESTATE_SERVER") {
        true => 500,
        false => 25,
    };
    for (place, is_there) in [
        ("files", true),
        ("sqlite", true),
        ("postgres", is_set("COGWORK_TEST_POSTGRES")),
        ("restate", is_set("RESTATE_SERVER")),
    ] {
        println!("{place}{}", if is_there { "" } else { ": skipped" });
        if is_there && !kill(place, kills).await? {
            return Ok(false);
        }
    }
    Ok(true)
}

#[tokio::main]
async fn main() -> ExitCode {
    let arguments: Vec<_> = env::args().skip(1).collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let done = match arguments.as_slice() {
        ["worker", "restate", port, folder] => restate::work(port, Path::new(folder)).await,
        ["worker", place, address, folder] => stores::work(place, address, Path::new(folder)).await,
        [place, "--kills", kills] => match kills.parse() {
            Ok(kills) => kill(place, kills).await,
            Err(_) => Err(format!("--kills: `{kills}` isn't a number").into()),
        },
        arguments => kill_all(arguments).await,
    };

    match done {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
