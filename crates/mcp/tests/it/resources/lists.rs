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
            .replace("{name}", "react");
        read(&host, &uri).await.expect(&uri);
    }
}
