//! The command `mcp`.

mod data;
mod http;
mod log;
mod signals;

use std::io;
use std::time::Duration;

use cogwork_agents::Loader;
use cogwork_mcp::{Server, ServerBuilder, ServerError};
use cogwork_text::OneLine;

use crate::arguments::Mcp;
use crate::output::{Outcome, tell};

/// How long to wait at the end for a read of standard input, which cannot be cancelled on every
/// platform.
const LAST_READ: Duration = Duration::from_millis(10);

pub(crate) fn mcp(arguments: &Mcp) -> Outcome {
    log::report_panics();
    if let Err(error) = log::start(arguments.verbose) {
        return failed(error);
    }

    let server = match open(arguments) {
        Ok(server) => server,
        Err(error) => return failed(error),
    };
    let runtime = match runtime() {
        Ok(runtime) => runtime,
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

fn open(arguments: &Mcp) -> Result<Server, String> {
    let mut builder = Server::builder().with_strict(arguments.strict);
    if !arguments.memory {
        builder = builder.with_data(data::folder(arguments.data.as_deref())?);
    }
    solving(builder, arguments)?
        .open()
        .map_err(|error| error.to_string())
}

/// Sets what the tool `solve` uses.
fn solving(builder: ServerBuilder, arguments: &Mcp) -> Result<ServerBuilder, String> {
    #[cfg(feature = "http")]
    let builder = builder
        .with_client_from_env()
        .map_err(|error| error.to_string())?;

    let Some(file) = &arguments.flow else {
        return Ok(builder);
    };
    let loader = Loader::new().with_process_environment();
    let flow = loader.load(file).map_err(|error| error.to_string())?;
    Ok(builder.with_flow(flow))
}

fn runtime() -> io::Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
}

fn failed(error: impl std::fmt::Display) -> Outcome {
    let error = error.to_string();
    tell(format_args!("cogwork: {}", OneLine::new(&error)));
    Outcome::NotReadOrWritten
}
