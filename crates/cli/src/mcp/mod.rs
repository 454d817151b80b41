//! The command `mcp`.

mod http;
mod log;

use std::path::{Path, PathBuf};
use std::time::Duration;

use cogwork_mcp::{Server, ServerBuilder, ServerError};
use cogwork_strategies::Strategies;
use cogwork_strategies::table::MAX_TABLE_BYTES;
use cogwork_text::{Escaped, OneLine};
use etcetera::BaseStrategy;

use crate::arguments::Mcp;
use crate::commands::loader;
use crate::output::{Outcome, read_text, runtime, tell};
use crate::signals;

/// How long to wait at the end for a read of standard input, which cannot be cancelled on every
/// platform.
const LAST_READ: Duration = Duration::from_millis(10);

pub(crate) fn mcp(arguments: &Mcp) -> Outcome {
    log::report_panics();
    if arguments.verbose {
        log::start();
    }

    let runtime = match runtime() {
        Ok(runtime) => runtime,
        Err(error) => return failed(error),
    };
    let server = match runtime.block_on(open(arguments)) {
        Ok(server) => server,
        Err(error) => return failed(error),
    };

    let outcome = match arguments.http {
        Some(address) => runtime.block_on(http::serve(&server, address, arguments)),
        None => outcome(runtime.block_on(serve(&server, server.serve_stdio()))),
    };
    runtime.shutdown_timeout(LAST_READ);
    outcome
}

fn outcome(result: Result<(), ServerError>) -> Outcome {
    match result {
        Ok(()) => Outcome::Success,
        Err(error) => {
            tell(format_args!("cogwork: {error}"));
            Outcome::RunFailed
        }
    }
}

/// Serves until all clients have disconnected or a signal arrives.
async fn serve(
    server: &Server,
    serving: impl Future<Output = Result<(), ServerError>>,
) -> Result<(), ServerError> {
    tokio::pin!(serving);

    tokio::select! {
        result = &mut serving => return result,
        () = signals::stop() => server.stop(),
    }
    serving.await
}

async fn open(arguments: &Mcp) -> Result<Server, String> {
    let mut builder = Server::builder();

    if !arguments.memory {
        let folder = arguments.data.clone().map_or_else(usual_folder, Ok)?;
        builder = builder.with_data(folder);
    }
    if let Some(names) = &arguments.tools {
        builder = builder.with_built_in_tools(names);
    }
    if let Some(file) = &arguments.strategies {
        builder = builder.with_strategies(strategies(file)?);
    }

    let builder = solving(builder, arguments).await?;
    builder.open().map_err(|error| error.to_string())
}

/// Returns the folder that the environment names, or the one that the platform has for data, rather than the one of XDG
/// on every platform.
fn usual_folder() -> Result<PathBuf, String> {
    let named = std::env::var_os("COGWORK_DATA").filter(|folder| !folder.is_empty());
    if let Some(folder) = named {
        return Ok(folder.into());
    }

    match etcetera::base_strategy::choose_native_strategy() {
        Ok(strategy) => Ok(strategy.data_dir().join("cogwork")),
        Err(error) => Err(format!(
            "there is no folder for sessions: {error}; expected --data DIR, --memory, or the variable COGWORK_DATA"
        )),
    }
}

/// Reads a table of strategies.
fn strategies(file: &Path) -> Result<Strategies, String> {
    let text = read_text(file, MAX_TABLE_BYTES as u64)?;
    let place = Escaped::new(file.display());
    Strategies::from_yaml(&text).map_err(|error| format!("{place}: {error}"))
}

/// Sets what the tool `solve` uses.
async fn solving(builder: ServerBuilder, arguments: &Mcp) -> Result<ServerBuilder, String> {
    #[cfg(feature = "http")]
    let builder = builder
        .with_client_from_env()
        .map_err(|error| error.to_string())?;

    let Some(file) = &arguments.flow else {
        return Ok(builder);
    };
    let loader = loader().with_process_environment();
    let flow = loader.load(file).map_err(|error| error.to_string())?;

    // The servers whose tools the file names.
    flow.connect().await.map_err(|error| error.to_string())?;
    Ok(builder.with_flow(flow))
}

fn failed(error: impl std::fmt::Display) -> Outcome {
    let error = error.to_string();
    tell(format_args!("cogwork: {}", OneLine::new(&error)));
    Outcome::NotReadOrWritten
}
