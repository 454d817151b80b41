//! What the client answers to a server.

use std::sync::Weak;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, ServerNotification, SubscriptionFilter,
};
use rmcp::service::{NotificationContext, Peer, RoleClient};

use super::link::Link;

/// Refreshes the list of tools when it changes. Everything else is declined.
pub(super) struct Handler {
    pub(super) link: Weak<Link>,
}

impl ClientHandler for Handler {
    async fn on_tool_list_changed(&self, context: NotificationContext<RoleClient>) {
        refresh(&self.link, &context.peer).await;
    }

    fn get_info(&self) -> ClientConfig {
        let client = Implementation::new("cogwork", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), client)
    }
}

/// Listens for changes of the list until the connection ends. Since 2026-07-28, servers report them
/// only to those who listen.
pub(super) async fn listen(link: Weak<Link>, peer: Peer<RoleClient>) {
    let filter = SubscriptionFilter::builder().tools_list_changed().build();
    let Ok(mut changes) = peer.listen(filter).await else {
        return;
    };

    // The list may have changed before.
    refresh(&link, &peer).await;
    while let Ok(Some(change)) = changes.next().await {
        if matches!(change, ServerNotification::ToolListChangedNotification(_)) {
            refresh(&link, &peer).await;
        }
    }
}

async fn refresh(link: &Weak<Link>, peer: &Peer<RoleClient>) {
    if let Some(link) = link.upgrade() {
        link.refresh(peer).await;
    }
}
