use proptest::prelude::*;
use rmcp::model::PaginatedRequestParams;
use serde_json::json;

use super::{client, solve, think};
use crate::guided::View;
use crate::support::{Client, block_on};

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
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        match fence {
            Some(end) if line == end => fence = None,
            Some(_) => {}
            None => match line.strip_suffix("text").filter(|line| line.len() >= 3) {
                Some(backticks) if backticks.chars().all(|c| c == '`') => fence = Some(backticks),
                _ => check_line(line),
            },
        }
    }
    assert_eq!(fence, None, "{text}");
    check_characters(text);
}

/// Checks a line outside of blocks, in which texts are code.
fn check_line(line: &str) {
    let outside = without_code(line);
    let is_ours = ["", "## Problem", "## Answer"].contains(&outside.as_str())
        || outside == "# "
        || outside.starts_with("- ") && !outside.contains(['[', '<', '*'])
        || outside.starts_with("## ") && outside.contains(". ")
        || outside.starts_with("Passed: ")
        || outside.ends_with("shown.");
    assert!(is_ours, "{line:?}");
}

/// Returns a line without the code in it.
fn without_code(line: &str) -> String {
    let mut outside = String::new();
    let mut rest = line;
    while let Some((before, code)) = rest.split_once('`') {
        let marks = 1 + code.len() - code.trim_start_matches('`').len();
        let fence = "`".repeat(marks);
        let code = code.trim_start_matches('`');

        // A span ends at a run of the same length.
        let end = code.match_indices(&fence).find(|(index, _)| {
            let longer = code[..*index].ends_with('`');
            !longer && !code[index + marks..].starts_with('`')
        });
        let (end, _) = end.unwrap_or_else(|| panic!("{line:?} has code without an end"));
        outside.push_str(before);
        rest = &code[end + marks..];
    }
    outside.push_str(rest);
    outside
}

fn check_characters(text: &str) {
    let is_unsafe = |c: char| c != '\n' && c != '\t' && cogwork_text::is_unsafe(c);
    assert!(!text.contains(is_unsafe), "{text:?}");
}

#[tokio::test]
async fn thoughts_stay_in_their_place() {
    let client = client(TEXTS.len()).await;
    for (index, text) in TEXTS.iter().enumerate() {
        let thought = json!({"thought": text, "branchFromThought": 1, "branchId": text});
        think(&client, "all", thought.clone()).await;
        // The title of a session is its first thought.
        think(&client, &format!("one-{index}"), thought).await;
        solve(&client, &format!("run-{index}"), text).await;
        others(&client, index, text).await;
    }

    let mut sessions = vec!["all".to_owned()];
    for kind in ["one", "run", "think", "reason"] {
        sessions.extend((0..TEXTS.len()).map(|index| format!("{kind}-{index}")));
    }
    for session in sessions {
        let uri = format!("cogwork://sessions/{session}");
        check_markdown(&client.read(&uri).await.expect("a text"));
    }
}

/// Begins a session of `think` and one of `reason`, with a text wherever one may be.
async fn others(client: &Client, index: usize, text: &str) {
    let session = format!("think-{index}");
    let mut first = json!({"sessionId": session, "strategy": "react", "thought": text});
    first["purpose"] = json!(text);
    client.accepted("think", first).await;

    // Some of the texts aren't the name of a branch.
    let branch = format!("x{}", text.replace(cogwork_text::is_unsafe, "\u{a0}"));
    let branch: String = branch.chars().take(40).collect();
    let side = json!({"sessionId": session, "branchFrom": 1, "branch": branch, "thought": text});
    client.accepted("think", side).await;
    for stage in ["initial_reasoning", "action_planning"] {
        let mut thought = json!({"sessionId": session, "stage": stage, "thought": text});
        if stage == "action_planning" {
            thought["parameters"] = json!({"action": text});
        }
        client.accepted("think", thought).await;
    }

    let begin = json!({
        "sessionId": format!("reason-{index}"),
        "strategy": "chain_of_thought",
        "problem": text,
    });
    let begun = client.accepted("reason", begin).await;
    let reply = View::of(&begun).reply(format!("steps:\n- {text}\n- Add."));
    client.accepted("reason", reply).await;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn any_text_stays_in_its_place(texts in prop::collection::vec(".{1,80}|[`\"\\]\\[#\n\r<>-]{1,20}", 1..4)) {
        block_on(async {
            let client = client(0).await;
            for text in &texts {
                think(&client, "any", json!({"thought": text})).await;
            }
            check_markdown(&client.read("cogwork://sessions/any").await.expect("a text"));
        });
    }

    #[test]
    fn any_cursor_is_a_page_or_an_error(cursor in ".{0,60}|-?[0-9]{1,25}\\.[a-z0-9.:-]{0,140}") {
        block_on(async {
            let client = client(0).await;
            think(&client, "mine", json!({"thought": "First."})).await;
            let request = PaginatedRequestParams::default().with_cursor(Some(cursor));
            match client.list_resources(Some(request)).await {
                Ok(page) => assert!(page.resources.len() <= 1),
                Err(error) => assert!(error.to_string().contains("isn't one of this list")),
            }
        });
    }

    #[test]
    fn any_uri_is_a_resource_or_an_error(
        uri in ".{0,80}|cogwork://(sessions|strategies)/[a-z%/.:0-9]{0,60}|cogwork://sessions/(\\.\\./|%2e|%2F|%00|mine){0,6}"
    ) {
        block_on(async {
            let client = client(0).await;
            think(&client, "mine", json!({"thought": "First."})).await;
            if let Err(error) = client.read(&uri).await {
                assert!(error.contains("there is no resource"), "{error}");
                check_characters(&error);
            }
        });
    }
}
