use std::io;
use std::net::Ipv4Addr;

use tokio::net::TcpListener;

use crate::Runner;
use crate::http::{self, Access};

/// A page over the runs of a store, which can also start and continue those of a [`Runner`]'s flows.
///
/// Without its events, a run is shown as far as its outcomes go: steps, waits and errors.
#[derive(Debug)]
pub struct Studio {
    listener: TcpListener,
    access: Access,
    runner: Runner,
}

impl Studio {
    /// Listens on a port of 127.0.0.1; 0 for a free one.
    ///
    /// # Errors
    ///
    /// Returns an error if the port isn't available.
    pub async fn bind(runner: Runner, port: u16) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        // 0 lets the system choose one.
        let access = Access::new(listener.local_addr()?.port());

        Ok(Self {
            listener,
            access,
            runner,
        })
    }

    /// Returns the address of the page, with the token. Anyone with this address can read the runs
    /// and answer them.
    pub fn url(&self) -> String {
        self.access.url()
    }

    /// Serves the page until `stopped` is ready, and then [shuts down](Runner::shut_down) its runner.
    pub async fn serve(self, stopped: impl Future<Output = ()> + Send) {
        http::serve(self.listener, self.access, self.runner, stopped).await;
    }
}
