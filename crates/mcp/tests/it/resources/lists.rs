use std::collections::HashSet;

use rmcp::model::PaginatedRequestParams;
use serde_json::json;

use super::{client, server, think};
use crate::support::{Client, Era};

#[tokio::test]
async fn the_list_has_all_strategies_and_all_sessions_in_pages() {
    for era in Era::BOTH {
        let client = Client::in_era(&server(0), era).await;
        for number in 0..250 {
            think(&client, &format!("session-{number}"), json!({})).await;
        }

        let mut uris = Vec::new();
        let mut request = Some(PaginatedRequestParams::default());
        while let Some(next) = request {
            let page = client.list_resources(Some(next)).await.expect("a page");
            uris.extend(page.resources.into_iter().map(|resource| resource.uri));
            assert!(uris.len() <= 259);

            // A session that is created in the meantime doesn't move the others.
            think(&client, &format!("later-{}", uris.len()), json!({})).await;
            let cursor = page.next_cursor;
            request = cursor.map(|it| PaginatedRequestParams::default().with_cursor(Some(it)));
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
    let client = client(0).await;
    think(&client, "a:b", json!({})).await;

    let templates = client.list_all_resource_templates().await;
    for template in templates.expect("a list") {
        // As RFC 6570 expands them, `:` is encoded.
        let uri = template.uri_template.replace("{id}", "a%3Ab");
        let uri = uri.replace("{name}", "react");
        client.read(&uri).await.expect(&uri);
    }
}
