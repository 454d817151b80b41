//! The link between tools and their server, which is started again when it has ended.

use std::fmt;
use std::sync::{Arc, PoisonError, RwLock};

use tokio::sync::Mutex;

use super::connection::Connection;
use super::listing::Listing;
use super::{McpError, McpServer};

pub(super) struct Link {
    pub(super) server: McpServer,
    connection: Mutex<Option<Arc<Connection>>>,
    /// `None` before the first connection.
    listing: RwLock<Option<Arc<Listing>>>,
}

impl Link {
    pub(super) fn new(server: McpServer) -> Self {
        Self {
            server,
            connection: Mutex::default(),
            listing: RwLock::default(),
        }
    }

    /// Returns the connection. If there is none, or if it has ended, the server is started.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut current = self.connection.lock().await;
        // The lock is held until the server is ready, so that calls at the same time start it once.
        if let Some(connection) = &*current
            && !connection.is_closed()
        {
            return Ok(Arc::clone(connection));
        }

        // Ends the old one first: a server may allow only one of itself.
        *current = None;
        let (connection, listing) = Connection::open(&self.server).await?;
        // Another lock, so that the tools can be listed while the server starts.
        let mut known = self.listing.write().unwrap_or_else(PoisonError::into_inner);
        *known = Some(Arc::new(listing));
        drop(known);

        Ok(Arc::clone(current.insert(Arc::new(connection))))
    }

    /// Returns what the server offers, or `None` before the first connection.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        let listing = self.listing.read();
        listing.unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.server.fmt(f)
    }
}
