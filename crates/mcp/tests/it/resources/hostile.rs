use proptest::prelude::*;
use rmcp::model::PaginatedRequestParams;
use serde_json::json;

use super::support::{read, server, solve, think};
use crate::host::{Era, Host};

/// Texts that try to leave their place in Markdown, in a drawing, or in a terminal.
const TEXTS: [&str; 12] = [
    "\"]\n    evil[\"x",
    "```\n# Heading\n![image](http://evil.example/x)",
    "\n\n# Heading\n\n[link](javascript:alert(1))",
    "\r# Heading",
    "\u{2028}# Heading\u{2029}# Heading",
    "<script>alert(1)</script>",
    "\u{1b}[2J\u{1b}]0;title\u{7}",
    "\u{202e}desrever",
    "`` ` ```",
    "end\nclick t1 \"javascript:alert(1)\"",
    "%%{init: {}}%%\nflowchart LR",
    "#quot;] --> evil",
];

fn check_markdown(text: &str) {
    for line in text.lines() {
        let is_ours = line.is_empty()
            || line.starts_with("    ")
            || line.starts_with("# `")
            || line.starts_with("- ")
            || line == "## Problem"
            || line == "## Answer"
            || line.starts_with("## ") && line.ends_with('`')
            || line.starts_with("## ") && line.contains("`, revises ");
        assert!(is_ours, "{line:?} in {text}");

        // Outside of blocks, texts are code within a line.
        if !line.starts_with("    ") {
            assert_eq!(line.matches('`').count() % 2, 0, "{line:?}");
        }
    }
    check_characters(text);
}

fn check_drawing(drawing: &str) {
    let mut lines = drawing.lines();
    assert_eq!(lines.next(), Some("flowchart TD"));

    for line in lines {
        let line = line.trim_start();
        let is_edge = line.contains(" --> ") || line.contains(" -. revises .-> ");
        let is_node = line.ends_with("\"]") || line.ends_with("\"]]") || line.ends_with("\"])");
        if is_node {
            assert_eq!(line.matches('"').count(), 2, "{line:?}");
        } else {
            assert!(is_edge && line.len() < 60, "{line:?}");
        }
    }
    check_characters(drawing);
}

fn check_characters(text: &str) {
    let is_unsafe = |c: char| c != '\n' && c != '\t' && cogwork_text::is_unsafe(c);
    assert!(!text.contains(is_unsafe), "{text:?}");
}

#[tokio::test]
async fn thoughts_stay_in_their_place() {
    let host = Host::connect(&server(TEXTS.len()), Era::Initialize).await;
    for (index, text) in TEXTS.iter().enumerate() {
        let thought = json!({"thought": text, "branchFromThought": 1, "branchId": text});
        think(&host, "all", thought.clone()).await;
        // The title of a session is its first thought.
        think(&host, &format!("one-{index}"), thought).await;
        solve(&host, &format!("run-{index}"), text).await;
    }

    let mut sessions = vec!["all".to_owned()];
    sessions.extend((0..TEXTS.len()).map(|index| format!("one-{index}")));
    sessions.extend((0..TEXTS.len()).map(|index| format!("run-{index}")));
    for session in sessions {
        let uri = format!("cogwork://sessions/{session}");
        check_markdown(&read(&host, &uri).await.expect("a text"));
        let drawing = read(&host, &format!("{uri}/mermaid")).await;
        check_drawing(&drawing.expect("a drawing"));
    }
}

/// Runs one case on a new server.
fn on_a_server<T>(case: impl AsyncFnOnce(Host) -> T) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread();
    let runtime = { runtime }.enable_all().build().expect("a runtime");
    runtime.block_on(async {
        let host = Host::connect(&server(0), Era::Initialize).await;
        think(&host, "mine", json!({"thought": "First."})).await;
        case(host).await
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_stays_in_its_place(texts in prop::collection::vec(".{1,80}|[`\"\\]\\[#\n\r<>-]{1,20}", 1..4)) {
        on_a_server(async |host| {
            for text in &texts {
                think(&host, "any", json!({"thought": text})).await;
            }
            check_markdown(&read(&host, "cogwork://sessions/any").await.expect("a text"));
            let drawing = read(&host, "cogwork://sessions/any/mermaid").await;
            check_drawing(&drawing.expect("a drawing"));
        });
    }

    #[test]
    fn any_cursor_is_a_page_or_an_error(cursor in ".{0,60}|-?[0-9]{1,25}\\.[a-z0-9.:-]{0,140}") {
        on_a_server(async |host| {
            let request = PaginatedRequestParams::default().with_cursor(Some(cursor));
            match host.client.list_resources(Some(request)).await {
                Ok(page) => assert!(page.resources.len() <= 1),
                Err(error) => assert!(error.to_string().contains("isn't one of this list")),
            }
        });
    }

    #[test]
    fn any_uri_is_a_resource_or_an_error(
        uri in ".{0,80}|cogwork://(sessions|strategies)/[a-z%/.:0-9]{0,60}|cogwork://sessions/(\\.\\./|%2e|%2F|%00|mine){0,6}"
    ) {
        on_a_server(async |host| {
            if let Err(error) = read(&host, &uri).await {
                assert!(error.contains("there is no resource"), "{error}");
                check_characters(&error);
            }
        });
    }
}
