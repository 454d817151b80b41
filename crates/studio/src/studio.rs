use std::io;
use std::net::Ipv4Addr;

use cogwork_journal::Store;
use tokio::net::TcpListener;

use crate::Runner;
use crate::http::{self, Access};

/// A page over the runs of a store.
///
/// Without its events, a run is shown as far as its outcomes go: steps, waits and errors.
#[derive(Debug)]
pub struct Studio {
    runner: Runner,
}

impl Studio {
    /// Creates a page over the runs of this store.
    pub fn new(store: Store) -> Self {
        Self::over(Runner::new(store, Vec::<crate::ServedFlow>::new()))
    }

    /// Creates a page over the runs of a runner, which it can also start, resume and fork.
    pub fn over(runner: Runner) -> Self {
        Self { runner }
    }

    /// Listens on a port of 127.0.0.1; 0 for a free one.
    ///
    /// # Errors
    ///
    /// Returns an error if the port isn't available.
    pub async fn bind(self, port: u16) -> io::Result<Serving> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        let port = listener.local_addr()?.port();
        let token = Access::random_token();

        Ok(Serving {
            listener,
            access: Access::new(port, &token),
            runner: self.runner,
            token,
        })
    }
}

/// A page that listens, but isn't served yet.
#[derive(Debug)]
pub struct Serving {
    listener: TcpListener,
    access: Access,
    runner: Runner,
    token: String,
}

impl Serving {
    /// Returns the address of the page, with the token. Anyone with this address can read the runs
    /// and answer them.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.access.host(), self.token)
    }

    /// Serves the page until `stopped` is ready.
    pub async fn run(self, stopped: impl Future<Output = ()> + Send) {
        http::serve(self.listener, self.access, self.runner, stopped).await;
    }
}
