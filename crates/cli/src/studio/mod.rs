//! The command `studio`.

mod flows;
mod watching;

use std::fmt::Display;

use cogwork_journal::Store;
use cogwork_studio::{Runner, Studio};
use cogwork_text::OneLine;

use crate::arguments;
use crate::output::{Outcome, runtime, tell, write};
use crate::signals;
use flows::FileFlows;

pub(crate) fn studio(arguments: &arguments::Studio) -> Outcome {
    let served = runtime().map_err(|error| error.to_string());
    let served = served.and_then(|runtime| runtime.block_on(serve(arguments)));

    served.unwrap_or_else(|error| {
        tell(format_args!("cogwork: {}", OneLine::new(&error)));
        Outcome::NotReadOrWritten
    })
}

async fn serve(arguments: &arguments::Studio) -> Result<Outcome, String> {
    let text = |error: &dyn Display| error.to_string();
    let store = Store::at(&arguments.journal).map_err(|error| text(&error))?;
    let flows = FileFlows::load(arguments).await?;

    let bound = Studio::bind(Runner::new(store, flows), arguments.port).await;
    let studio = bound.map_err(|error| {
        let port = arguments.port;
        format!("port {port} of 127.0.0.1 is not available: {error}")
    })?;

    let written = write(studio.url());
    if written != Outcome::Success {
        return Ok(written);
    }
    tell("cogwork: anyone with this address can read and answer the runs; press Ctrl-C to stop");

    studio.serve(signals::stop()).await;
    Ok(Outcome::Success)
}
