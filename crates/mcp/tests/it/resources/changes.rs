use rmcp::model::{
    ServerNotification, SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use serde_json::json;

use super::support::{server, think};
use crate::host::{Era, Host, Seen};

const URI: &str = "cogwork://sessions/mine/mermaid";

#[tokio::test]
#[expect(deprecated, reason = "hosts with a handshake subscribe in this way")]
async fn a_host_with_a_handshake_is_notified_of_sessions_it_subscribed_to() {
    let server = server(0);
    let mut host = Host::connect(&server, Era::Initialize).await;
    let other = Host::connect(&server, Era::Discover).await;
    think(&host, "unseen", json!({"thought": "First."})).await;

    host.client.list_resources(None).await.expect("a list");
    think(&host, "mine", json!({"thought": "First."})).await;
    assert_eq!(host.seen.recv().await, Some(Seen::ListChanged));

    let subscribed = host
        .client
        .subscribe(SubscribeRequestParams::new(URI))
        .await;
    subscribed.expect("a subscription");
    think(
        &other,
        "mine",
        json!({"thought": "Second.", "thoughtNumber": 2}),
    )
    .await;
    assert_eq!(host.seen.recv().await, Some(Seen::Updated(URI.to_owned())));

    let unsubscribed = host
        .client
        .unsubscribe(UnsubscribeRequestParams::new(URI))
        .await;
    unsubscribed.expect("no subscription");
    think(
        &other,
        "mine",
        json!({"thought": "Third.", "thoughtNumber": 3}),
    )
    .await;
    think(&other, "new", json!({"thought": "First."})).await;
    assert_eq!(host.seen.recv().await, Some(Seen::ListChanged));
}

#[tokio::test]
async fn a_host_that_uses_no_resources_gets_no_notifications() {
    for era in Era::BOTH {
        let mut host = Host::connect(&server(0), era).await;
        for number in 0..10 {
            think(
                &host,
                &format!("new-{number}"),
                json!({"thought": "First."}),
            )
            .await;
        }
        assert!(host.seen.try_recv().is_err());
    }
}

#[tokio::test]
async fn a_host_without_a_handshake_listens() {
    let server = server(0);
    let host = Host::connect(&server, Era::Discover).await;
    think(&host, "mine", json!({"thought": "First."})).await;

    let filter = SubscriptionFilter::builder()
        .resource_subscription(URI)
        .resource_subscription("file:///etc/passwd")
        .resources_list_changed()
        .build();
    let mut subscription = host.client.listen(filter).await.expect("a subscription");
    let accepted = subscription.acknowledged().resource_subscriptions.clone();
    assert_eq!(accepted, Some(vec![URI.to_owned()]));

    think(
        &host,
        "mine",
        json!({"thought": "Second.", "thoughtNumber": 2}),
    )
    .await;
    match subscription.next().await.expect("a notification") {
        Some(ServerNotification::ResourceUpdatedNotification(updated)) => {
            assert_eq!(updated.params.uri, URI);
        }
        other => panic!("expected an update, got {other:?}"),
    }

    think(&host, "new", json!({"thought": "First."})).await;
    let changed = subscription.next().await.expect("a notification");
    assert!(matches!(
        changed,
        Some(ServerNotification::ResourceListChangedNotification(_))
    ));
}

#[tokio::test]
#[expect(deprecated, reason = "hosts with a handshake subscribe in this way")]
async fn subscriptions_are_limited_and_must_be_resources() {
    let limits = cogwork_mcp::ServerLimits::default().with_subscriptions(2);
    let server = cogwork_mcp::Server::builder().with_limits(limits);
    let host = Host::connect(&server.open().expect("it opens"), Era::Initialize).await;
    let subscribe = async |uri: &str| {
        let subscribed = host
            .client
            .subscribe(SubscribeRequestParams::new(uri))
            .await;
        subscribed.map_err(|error| error.to_string())
    };

    subscribe("cogwork://sessions/a").await.expect("the first");
    subscribe("cogwork://sessions/b").await.expect("the second");
    subscribe("cogwork://sessions/b")
        .await
        .expect("the second again");

    let third = subscribe("cogwork://sessions/c")
        .await
        .expect_err("an error");
    assert!(
        third.contains("there already are 2 subscriptions"),
        "{third}"
    );
    let unknown = subscribe("file:///etc/passwd").await.expect_err("an error");
    assert!(unknown.contains("there is no such resource"), "{unknown}");
}
