//! The command `mcp`.

mod http;

use std::panic;
use std::path::{Path, PathBuf};

use cogwork_flow::BoxError;
use cogwork_mcp::{Server, ServerBuilder, ServerError};
use cogwork_strategies::Strategies;
use cogwork_strategies::table::MAX_TABLE_BYTES;
use cogwork_text::Escaped;
use etcetera::BaseStrategy;

use crate::arguments::Mcp;
use crate::commands::loader;
use crate::output::{Ended, Exit, read_text, tell};
use crate::signals;

pub(crate) async fn mcp(arguments: &Mcp) -> Ended {
    // The default prints a panic as it is, with what a client has sent.
    panic::set_hook(Box::new(|panic| tell(format_args!("cogwork: {panic}"))));

    let server = open(arguments).await?;
    match arguments.http {
        Some(address) => http::serve(&server, address, arguments).await,
        None => serve(&server, server.serve_stdio()).await,
    }
}

/// Serves until all clients have disconnected or a signal arrives.
async fn serve(server: &Server, serving: impl Future<Output = Result<(), ServerError>>) -> Ended {
    tokio::pin!(serving);

    let served = tokio::select! {
        served = &mut serving => served,
        () = signals::stop() => {
            // Requests in progress are finished.
            server.stop();
            serving.await
        }
    };
    served.map_err(|error| {
        tell(format_args!("cogwork: {error}"));
        Exit::RunFailed.into()
    })
}

async fn open(arguments: &Mcp) -> Result<Server, BoxError> {
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

    Ok(solving(builder, arguments).await?.open()?)
}

/// Returns the folder that the platform has for data, rather than the one of XDG on every platform.
fn usual_folder() -> Result<PathBuf, String> {
    match etcetera::base_strategy::choose_native_strategy() {
        Ok(strategy) => Ok(strategy.data_dir().join("cogwork")),
        Err(error) => Err(format!(
            "there is no folder for sessions: {error}; expected --data DIR or --memory"
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
async fn solving(builder: ServerBuilder, arguments: &Mcp) -> Result<ServerBuilder, BoxError> {
    #[cfg(feature = "http")]
    let builder = builder.with_client_from_env()?;

    let Some(file) = &arguments.flow else {
        return Ok(builder);
    };
    let names = arguments.tools.as_deref();
    if names.is_some_and(|names| names.iter().all(|name| name != "solve")) {
        return Err("--flow: the flow is for the tool `solve`, which --tools leaves out".into());
    }
    let flow = loader().with_process_environment().load(file)?;
    if let Some(waits) = flow.waits() {
        return Err(format!("--flow: {waits}, which can't be given here").into());
    }

    // The servers whose tools the file names.
    flow.connect().await?;
    Ok(builder.with_flow(flow))
}
