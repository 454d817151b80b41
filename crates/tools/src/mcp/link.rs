//! The link between tools and their server, which is started again when it ends.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use cogwork_text::Backoff;
use rmcp::service::{Peer, RoleClient};
use tokio::sync::Mutex;

use super::connection::Connection;
use super::listing::Listing;
use super::{McpError, McpServer};

pub(super) struct Link {
    pub(super) server: McpServer,
    connection: Mutex<Option<Arc<Connection>>>,
    /// The number of starts since the server last answered a call, and the one before that.
    starts: AtomicUsize,
    /// `None` before the first connection.
    listing: RwLock<Option<Arc<Listing>>>,
    refreshing: Mutex<()>,
    /// Whether a refresh waits for another one.
    will_refresh: AtomicBool,
    /// Whether the server only understands the old generation of the protocol.
    is_old: AtomicBool,
    this: Weak<Self>,
}

impl Link {
    pub(super) fn new(server: McpServer) -> Arc<Self> {
        Arc::new_cyclic(|this| Self {
            server,
            connection: Mutex::default(),
            starts: AtomicUsize::default(),
            listing: RwLock::default(),
            refreshing: Mutex::default(),
            will_refresh: AtomicBool::default(),
            is_old: AtomicBool::default(),
            this: Weak::clone(this),
        })
    }

    /// Returns the connection. If there is none, or if it has ended, the server is started.
    pub(super) async fn connection(&self) -> Result<Arc<Connection>, McpError> {
        let mut current = self.connection.lock().await;
        if let Some(connection) = &*current
            && !connection.is_closed()
        {
            return Ok(Arc::clone(connection));
        }

        *current = None;
        let Some(delay) = self.delay() else {
            let problem = "has ended too often, and is not started again";
            return Err(McpError::ended(&self.server, problem));
        };
        tokio::time::sleep(delay).await;

        let connection = Arc::new(self.open().await?);
        *current = Some(Arc::clone(&connection));
        Ok(connection)
    }

    /// Returns the delay before the next start, or `None` if there is to be no other. A server that
    /// worked is started again at once, and then after the delays of a [`Backoff`].
    fn delay(&self) -> Option<Duration> {
        match self.starts.fetch_add(1, Ordering::Relaxed) {
            0 | 1 => Some(Duration::ZERO),
            starts => Backoff::of::<5>().delays().nth(starts - 2),
        }
    }

    async fn open(&self) -> Result<Connection, McpError> {
        let opened = Connection::open(&self.server, &self.this, &self.is_old);
        let (connection, listing) = opened.await?;
        self.check(&listing)?;
        self.put(listing);
        Ok(connection)
    }

    /// Returns an error if a tool that was named is missing or refused.
    fn check(&self, listing: &Listing) -> Result<(), McpError> {
        let only = self.server.only.iter().flatten();
        let mut missing = only.filter(|name| !listing.tools.contains_key(*name));
        let Some(name) = missing.next() else {
            return Ok(());
        };

        let refused = listing.refused.iter().find(|tool| tool.name == *name);
        let problem = match refused {
            Some(tool) => format!("has a tool `{name}` that can't be used: {}", tool.reason),
            None => format!("has no tool `{name}`; expected one of the tools it has"),
        };
        Err(McpError::new(&self.server, problem))
    }

    /// Asks for the list of tools again. If another refresh is waiting already, that one is enough.
    pub(super) async fn refresh(&self, peer: &Peer<RoleClient>) {
        if self.will_refresh.swap(true, Ordering::AcqRel) {
            return;
        }
        let _turn = self.refreshing.lock().await;
        self.will_refresh.store(false, Ordering::Release);

        let limit = self.server.start_timeout;
        let asked = Listing::ask(&self.server, peer);
        if let Ok(Ok(listing)) = tokio::time::timeout(limit, asked).await {
            self.put(listing);
        }
    }

    /// Notes that the server works.
    pub(super) fn succeeded(&self) {
        self.starts.store(1, Ordering::Relaxed);
    }

    /// Ends the connection, and kills the server if it was started here.
    pub(super) async fn close(&self) {
        *self.connection.lock().await = None;
    }

    /// Returns what the server offers, or `None` before the first connection.
    pub(super) fn listing(&self) -> Option<Arc<Listing>> {
        let listing = self.listing.read();
        listing.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn put(&self, listing: Listing) {
        let mut current = self.listing.write().unwrap_or_else(PoisonError::into_inner);
        *current = Some(Arc::new(listing));
    }
}
