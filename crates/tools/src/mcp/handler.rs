//! What the client answers to a server.

use std::sync::Weak;

use async_trait::async_trait;
use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RoleClient};

/// The keeper of the list of tools.
#[async_trait]
pub(super) trait Refresh: Send + Sync {
    /// Asks for the list again.
    async fn refresh(&self, peer: &Peer<RoleClient>);
}

/// Refreshes the list of tools when it changes. Everything else is declined.
pub(super) struct Handler {
    pub(super) list: Weak<dyn Refresh>,
}

impl ClientHandler for Handler {
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        refresh(&self.list, &context.peer).await;
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("cogwork", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }
}

/// Listens for changes of the list until the connection ends. Since 2026-07-28, servers report them
/// only to those who listen.
pub(super) async fn listen(list: Weak<dyn Refresh>, peer: Peer<RoleClient>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut changes) = peer.listen(filter).await else {
        return;
    };

    // The list may have changed before.
    refresh(&list, &peer).await;
    while let Ok(Some(change)) = changes.next().await {
        if matches!(change, ServerNotification::ToolListChangedNotification(_)) {
            refresh(&list, &peer).await;
        }
    }
}

async fn refresh(list: &Weak<dyn Refresh>, peer: &Peer<RoleClient>) {
    if let Some(list) = list.upgrade() {
        list.refresh(peer).await;
    }
}
