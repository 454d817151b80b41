//! Live views.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use super::client::{Served, events_of, lines};
use super::runs::{happened, paused};

const EVENTS: &str = "/api/run/events?id=a";

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new();
    let mut file = file.append(true).create(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// What is there when a browser comes.
async fn current(studio: &Served, headers: &str) -> String {
    let mut browser = studio.watch(EVENTS, headers).await;
    browser.until("event: current").await
}

/// Returns a folder with a run, and its events as they are written.
async fn folder_with(written: &str) -> tempfile::TempDir {
    let (folder, _) = paused().await;
    append(&events_of(folder.path(), "a"), written);
    folder
}

#[tokio::test]
async fn lines_arrive_as_they_are_written() {
    let written = happened("a");
    let folder = folder_with(&format!("{}\n{}\n", written[0], written[1])).await;
    let studio = Served::over(folder.path()).await;
    let mut browser = studio.watch(EVENTS, "").await;

    let text = browser.until("event: current").await;
    assert!(text.contains("text/event-stream"));
    assert_eq!(lines(&text).len(), 2);
    assert_eq!(lines(&text)[0]["type"], "opened");

    // A line that is written in two parts arrives once it is complete.
    let path = events_of(folder.path(), "a");
    let (start, end) = written[3].split_at(30);
    append(&path, &format!("{}\n{start}", written[2]));
    let text = browser.until("step_entered").await;
    assert_eq!(lines(&text).len(), 3);

    append(&path, &format!("{end}\n"));
    let text = browser.until("</script>").await;
    assert_eq!(lines(&text)[3]["report"]["cost"], 0.25);
}

#[tokio::test]
async fn a_browser_that_connects_again_gets_what_it_missed() {
    let written = happened("a");
    let folder = folder_with(&format!("{}\n", written.join("\n"))).await;
    let studio = Served::over(folder.path()).await;

    let text = current(&studio, "").await;
    let ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    let ids: Vec<_> = ids.collect();
    assert_eq!(ids.len(), 5);

    let missed = format!("Last-Event-ID: {}\r\n", ids[2]);
    let text = current(&studio, &missed).await;
    assert_eq!(lines(&text).len(), 2);
    assert_eq!(lines(&text)[0]["type"], "reported");
}

#[tokio::test]
async fn lines_that_a_crash_cut_off_are_skipped() {
    let written = happened("a");
    let torn = r#"{"at":0.1,"ty"#;
    let text = format!("{}\n{torn}\n{}\n", written[0], written[1]);
    let folder = folder_with(&text).await;

    let studio = Served::over(folder.path()).await;
    let text = current(&studio, "").await;
    assert_eq!(lines(&text).len(), 2, "{text}");
    assert!(!text.contains("0.1,"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_not_followed() {
    let (folder, _) = paused().await;
    let secret = folder.path().join("secret");
    std::fs::write(&secret, format!("{}\n", happened("a")[0])).unwrap();
    std::os::unix::fs::symlink(&secret, events_of(folder.path(), "a")).unwrap();

    let studio = Served::over(folder.path()).await;
    let text = current(&studio, "").await;
    // The journal is shown instead.
    assert_eq!(lines(&text)[1]["type"], "phase_finished", "{text}");
}

#[tokio::test]
async fn a_run_without_events_is_shown_from_its_outcomes() {
    let (folder, _) = paused().await;
    let studio = Served::over(folder.path()).await;

    let text = current(&studio, "").await;
    let events = lines(&text);
    assert_eq!(events[0]["flow"], "rate");
    assert_eq!(events[0]["left_out"], "events");
    let kinds = events.iter().filter_map(|event| event["type"].as_str());
    let kinds: Vec<_> = kinds.collect();
    assert_eq!(kinds, ["opened", "phase_finished", "paused"]);
}

#[tokio::test]
async fn a_view_from_past_the_end_has_no_events() {
    let (folder, _) = paused().await;
    let studio = Served::over(folder.path()).await;

    let end = format!("Last-Event-ID: j0-{}\r\n", u64::MAX);
    let text = current(&studio, &end).await;
    assert_eq!(lines(&text).len(), 0, "{text}");
}

#[tokio::test]
async fn a_browser_that_leaves_gives_its_place_back() {
    let folder = folder_with(&format!("{}\n", happened("a").join("\n"))).await;
    let studio = Served::over(folder.path()).await;

    let mut watching = Vec::new();
    for _ in 0..16 {
        let mut browser = studio.watch(EVENTS, "").await;
        browser.until("event: current").await;
        watching.push(browser);
    }
    let refused = studio.get(EVENTS).await;
    assert_eq!(refused.status, 503);
    assert!(refused.error().contains("close other windows"));

    drop(watching);
    for _ in 0..100 {
        let text = studio.watch(EVENTS, "").await.until("\r\n\r\n").await;
        if text.starts_with("HTTP/1.1 200") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    panic!("the place is still taken");
}

#[tokio::test]
async fn an_unknown_run_has_no_events() {
    let studio = Served::empty().await;
    assert_eq!(studio.get(EVENTS).await.status, 404);
    assert_eq!(studio.get("/api/run/events").await.status, 400);
}
