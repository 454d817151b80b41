//! Notifying clients of changes of sessions.
//!
//! Only changes by this process are noticed.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use cogwork_flow::CancellationToken;
use rmcp::ErrorData;
use rmcp::model::{ResourceUpdatedNotificationParam, SubscriptionFilter};
use rmcp::service::{Peer, RoleServer, SubscriptionSink};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::Address;
use crate::store::{Owner, SessionChange, SessionStore};

/// What a client with a handshake has subscribed to. Dropping the last clone ends the notifications.
#[derive(Clone, Default)]
pub(crate) struct Subscriptions(Arc<Inner>);

#[derive(Default)]
struct Inner {
    uris: Arc<Mutex<HashSet<String>>>,
    token: CancellationToken,
    has_begun: AtomicBool,
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.token.cancel();
    }
}

impl Subscriptions {
    /// Notifies the client from now on, until it disconnects. Further calls change nothing. A client
    /// that never asks for resources isn't notified of anything.
    pub(crate) fn begin(&self, store: &SessionStore, owner: &Owner, peer: Peer<RoleServer>) {
        if self.0.has_begun.swap(true, Ordering::Relaxed) {
            return;
        }

        let changes = Changes {
            receiver: store.changes(),
            owner: owner.clone(),
        };
        let target = Target::Peer {
            peer,
            uris: Arc::clone(&self.0.uris),
        };
        let token = self.0.token.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = notify(changes, &target) => {}
                () = token.cancelled() => {}
            }
        });
    }

    /// Adds a subscription.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no such resource, or if there are too many.
    pub(crate) fn add(&self, uri: String, most: usize) -> Result<(), ErrorData> {
        if Address::read(&uri).is_none() {
            let message = "there is no such resource; expected one of resources/templates/list";
            return Err(ErrorData::resource_not_found(message, None));
        }

        let mut uris = self.0.uris.lock().unwrap_or_else(PoisonError::into_inner);
        if uris.len() >= most && !uris.contains(&uri) {
            let message = format!("there already are {most} subscriptions; remove one first");
            return Err(ErrorData::invalid_params(message, None));
        }
        uris.insert(uri);
        Ok(())
    }

    pub(crate) fn remove(&self, uri: &str) {
        let mut uris = self.0.uris.lock().unwrap_or_else(PoisonError::into_inner);
        uris.remove(uri);
    }
}

/// Returns what a client without a handshake can be notified of.
pub(crate) fn accepted(requested: &SubscriptionFilter, most: usize) -> SubscriptionFilter {
    let uris = requested.resource_subscriptions.iter().flatten();
    let uris = uris.filter(|uri| Address::read(uri).is_some());
    let uris: Vec<String> = uris.take(most).cloned().collect();

    let mut accepted = SubscriptionFilter::new();
    accepted.resources_list_changed = requested.resources_list_changed.filter(|asked| *asked);
    accepted.resource_subscriptions = Some(uris).filter(|uris| !uris.is_empty());
    accepted
}

/// Notifies a client without a handshake, until it cancels the request.
pub(crate) async fn listen(
    store: &SessionStore,
    owner: &Owner,
    sink: SubscriptionSink,
    cancelled: CancellationToken,
) {
    let changes = Changes {
        receiver: store.changes(),
        owner: owner.clone(),
    };
    let target = Target::Sink(sink);

    tokio::select! {
        () = notify(changes, &target) => {}
        () = cancelled.cancelled() => {}
    }
}

/// Where notifications go.
enum Target {
    Peer {
        peer: Peer<RoleServer>,
        uris: Arc<Mutex<HashSet<String>>>,
    },
    Sink(SubscriptionSink),
}

impl Target {
    /// Returns the subscribed URIs.
    fn uris(&self) -> Vec<String> {
        match self {
            Self::Peer { uris, .. } => {
                let uris = uris.lock().unwrap_or_else(PoisonError::into_inner);
                uris.iter().cloned().collect()
            }
            Self::Sink(sink) => {
                let uris = sink.accepted().resource_subscriptions.clone();
                uris.unwrap_or_default()
            }
        }
    }

    /// Returns whether the client is still there.
    async fn updated(&self, uri: String) -> bool {
        match self {
            Self::Peer { peer, .. } => {
                let param = ResourceUpdatedNotificationParam::new(uri);
                peer.notify_resource_updated(param).await.is_ok()
            }
            Self::Sink(sink) => sink.notify_resource_updated(uri).await.is_ok(),
        }
    }

    /// Returns whether the client is still there.
    async fn listed_anew(&self) -> bool {
        match self {
            Self::Peer { peer, .. } => peer.notify_resource_list_changed().await.is_ok(),
            Self::Sink(sink) if sink.accepted().resources_list_changed == Some(true) => {
                sink.notify_resource_list_changed().await.is_ok()
            }
            Self::Sink(_) => true,
        }
    }
}

async fn notify(mut changes: Changes, target: &Target) {
    while let Some(changed) = changes.next().await {
        for uri in target.uris() {
            if changed.includes(&uri) && !target.updated(uri).await {
                return;
            }
        }
        if changed.is_listed_anew && !target.listed_anew().await {
            return;
        }
    }
}

/// The changes of one owner's sessions.
struct Changes {
    receiver: Receiver<SessionChange>,
    owner: Owner,
}

/// Changes that came at the same time.
#[derive(Default)]
struct Changed {
    ids: HashSet<String>,
    /// Whether some changes were missed.
    is_incomplete: bool,
    is_listed_anew: bool,
}

impl Changes {
    /// Waits for changes, and returns those that came in the meantime at once. Returns `None` if
    /// there will be no more.
    async fn next(&mut self) -> Option<Changed> {
        let mut changed = Changed::default();
        while changed.is_empty() {
            match self.receiver.recv().await {
                Ok(change) => changed.add(&self.owner, change),
                Err(RecvError::Lagged(_)) => changed.add_unknown(),
                Err(RecvError::Closed) => return None,
            }
        }

        loop {
            match self.receiver.try_recv() {
                Ok(change) => changed.add(&self.owner, change),
                Err(TryRecvError::Lagged(_)) => changed.add_unknown(),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return Some(changed),
            }
        }
    }
}

impl Changed {
    fn is_empty(&self) -> bool {
        self.ids.is_empty() && !self.is_incomplete
    }

    fn add(&mut self, owner: &Owner, change: SessionChange) {
        if change.owner == *owner {
            self.is_listed_anew |= change.is_listed_anew;
            self.ids.insert(change.id.to_string());
        }
    }

    fn add_unknown(&mut self) {
        self.is_incomplete = true;
        self.is_listed_anew = true;
    }

    /// Returns whether the resource with this URI may have changed.
    fn includes(&self, uri: &str) -> bool {
        match Address::read(uri) {
            Some(Address::Session { id, .. }) => {
                self.is_incomplete || self.ids.contains(id.as_str())
            }
            _ => false,
        }
    }
}
