//! The command `studio`.

mod flows;

use std::convert::Infallible;
use std::time::Duration;

use cogwork_journal::Store;
use cogwork_studio::{Runner, Studio};
use tokio::time::sleep;

use crate::arguments;
use crate::output::{Ended, tell, write};
use crate::signals;
use flows::FileFlows;

/// The time between two looks for waits that have timed out.
const BETWEEN: Duration = Duration::from_secs(5);

pub(crate) async fn studio(arguments: &arguments::Studio) -> Ended {
    let store = Store::at(&arguments.journal)?;
    // Before the address is printed: a page that cannot start its flows helps nobody.
    let flows = FileFlows::load(arguments).await?;

    let port = arguments.port;
    let runner = Runner::new(store, flows);
    let bound = Studio::bind(runner.clone(), port).await;
    let studio =
        bound.map_err(|error| format!("port {port} of 127.0.0.1 is not available: {error}"))?;

    write(studio.url())?;
    tell("cogwork: anyone with this address can read and answer the runs; press Ctrl-C to stop");

    let serve = studio.serve(signals::stop());
    tokio::select! {
        () = serve => Ok(()),
        never = resume_timed_out(&runner) => match never {},
    }
}

/// Resumes runs whose wait has timed out, of the flows of this command.
async fn resume_timed_out(runner: &Runner) -> Infallible {
    loop {
        sleep(BETWEEN).await;

        // The page shows a run that could not be resumed as waiting, and the next attempt may succeed.
        let _ = runner.resume_timed_out().await;
    }
}
