//! The command `studio`.

mod flows;

use cogwork_journal::Store;
use cogwork_studio::{Runner, Studio};

use crate::arguments;
use crate::output::{Ended, tell, write};
use crate::signals;
use flows::FileFlows;

pub(crate) async fn studio(arguments: &arguments::Studio) -> Ended {
    let store = Store::at(&arguments.journal)?;
    // Before the address is printed: a page that cannot start its flows helps nobody.
    let flows = FileFlows::load(arguments).await?;

    let port = arguments.port;
    let bound = Studio::bind(Runner::new(store, flows), port).await;
    let studio =
        bound.map_err(|error| format!("port {port} of 127.0.0.1 is not available: {error}"))?;

    write(studio.url())?;
    tell("cogwork: anyone with this address can read and answer the runs; press Ctrl-C to stop");

    studio.serve(signals::stop()).await;
    Ok(())
}
