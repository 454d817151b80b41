use std::collections::HashSet;

use rmcp::model::PaginatedRequestParams;
use serde_json::json;

use super::support::{read, server, think};
use crate::host::{Era, Host};

#[tokio::test]
async fn the_list_has_all_strategies_and_all_sessions_in_pages() {
    for era in Era::BOTH {
        let host = Host::connect(&server(0), era).await;
        for number in 0..250 {
            think(
                &host,
                &format!("session-{number}"),
                json!({"thought": "First."}),
            )
            .await;
        }

        let mut uris = Vec::new();
        let mut cursor = None;
        loop {
            let request = PaginatedRequestParams::default().with_cursor(cursor);
            let page = host
                .client
                .list_resources(Some(request))
                .await
                .expect("a page");
            uris.extend(page.resources.into_iter().map(|resource| resource.uri));
            assert!(uris.len() <= 259);

            // A session that is created in the meantime doesn't move the others.
            let new = format!("later-{}", uris.len());
            think(&host, &new, json!({"thought": "Later."})).await;

            cursor = page.next_cursor;
            if cursor.is_none() {
                break;
            }
        }

        let different: HashSet<_> = uris.iter().collect();
        assert_eq!(different.len(), uris.len());
        assert_eq!(uris.len(), 9 + 250);
        assert_eq!(uris[0], "cogwork://strategies/linear");
        assert_eq!(uris[9], "cogwork://sessions/session-249");
        assert_eq!(uris[258], "cogwork://sessions/session-0");
    }
}

#[tokio::test]
async fn a_page_goes_on_after_a_session_that_was_removed() {
    let limits = cogwork_mcp::ServerLimits {
        sessions: 150,
        ..cogwork_mcp::ServerLimits::default()
    };
    let server = cogwork_mcp::Server::builder().with_limits(limits);
    let host = Host::connect(&server.open().expect("it opens"), Era::Initialize).await;
    let mut uris = HashSet::new();
    for number in 0..150 {
        think(
            &host,
            &format!("session-{number}"),
            json!({"thought": "First."}),
        )
        .await;
    }

    let page = host.client.list_resources(None).await.expect("a page");
    uris.extend(page.resources.into_iter().map(|resource| resource.uri));
    let cursor = page.next_cursor.expect("another page");
    assert!(cursor.ends_with(".session-50"), "{cursor}");

    // The cursor still has a place if its session is unknown.
    let cursor = cursor.replace("session-50", "removed");
    let request = PaginatedRequestParams::default().with_cursor(Some(cursor));
    let page = host
        .client
        .list_resources(Some(request))
        .await
        .expect("a page");
    uris.extend(page.resources.into_iter().map(|resource| resource.uri));

    assert_eq!(uris.len(), 9 + 150);
}

#[tokio::test]
async fn templates_are_listed_and_their_uris_can_be_read() {
    let host = Host::connect(&server(0), Era::Discover).await;
    think(&host, "a:b", json!({"thought": "First."})).await;

    let templates = host
        .client
        .list_all_resource_templates()
        .await
        .expect("a list");

    for template in templates {
        // As RFC 6570 expands them, `:` is encoded.
        let uri = template
            .uri_template
            .replace("{id}", "a%3Ab")
            .replace("{name}", "react")
            .replace("{stage}", "action_planning")
            .replace("{format}", "mermaid");
        read(&host, &uri).await.expect(&uri);
    }
}
