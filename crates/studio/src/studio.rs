use std::io;
use std::net::Ipv4Addr;
use std::sync::Arc;

use cogwork_journal::Store;
use tokio::net::TcpListener;
use tokio::sync::{Mutex, Semaphore};
use tokio_util::sync::CancellationToken;

use crate::http::{self, Access};
use crate::shared::Shared;
use crate::totals::TotalsCache;
use crate::{Flows, NoFlows};

/// The maximum number of live views.
const STREAMS: usize = 16;

/// A page over the runs of a store.
///
/// Without its events, a run is shown as far as its outcomes go: steps, waits and errors.
pub struct Studio {
    store: Store,
    flows: Box<dyn Flows>,
}

impl Studio {
    /// Creates a page over the runs of this store.
    pub fn new(store: Store) -> Self {
        Self {
            store,
            flows: Box::new(NoFlows),
        }
    }

    /// Sets the flows that the page can start and resume. None by default.
    #[must_use]
    pub fn with_flows(mut self, flows: impl Flows) -> Self {
        self.flows = Box::new(flows);
        self
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
        let shared = Shared {
            streams: Arc::new(Semaphore::new(STREAMS)),
            totals: TotalsCache::default(),
            delivering: Mutex::new(()),
            stop: CancellationToken::new(),
            store: self.store,
            flows: self.flows,
        };

        Ok(Serving {
            listener,
            access: Access::new(port, &token),
            shared: Arc::new(shared),
            token,
        })
    }
}

impl std::fmt::Debug for Studio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Studio")
            .field("store", &self.store)
            .finish_non_exhaustive()
    }
}

/// A page that listens, but isn't served yet.
#[derive(Debug)]
pub struct Serving {
    listener: TcpListener,
    access: Access,
    shared: Arc<Shared>,
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
        let stop = self.shared.stop.clone();
        let serving = http::serve(self.listener, self.access, self.shared);
        tokio::pin!(serving);

        tokio::select! {
            () = &mut serving => return,
            () = stopped => stop.cancel(),
        }
        serving.await;
    }
}
