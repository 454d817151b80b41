//! Live views.

use std::fs::OpenOptions;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use super::client::{Served, lines, record};
use super::runs::{at, pause, record_of};

const EVENTS: &str = "/api/run/events?id=a";

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// Returns a folder with a run, and a record that is written as these lines.
async fn folder_with(written: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    append(&record(folder.path(), "a"), written);
    folder
}

#[tokio::test]
async fn lines_arrive_as_they_are_written() {
    let written = record_of("a");
    let folder = folder_with(&format!("{}\n{}\n", written[0], written[1])).await;
    let studio = Served::over(folder.path()).await;
    let mut browser = studio.watch(EVENTS, "").await;

    let text = browser.until("event: current").await;
    assert!(text.contains("text/event-stream"));
    assert_eq!(lines(&text).len(), 2);
    assert_eq!(lines(&text)[0]["cogwork_record"], 1);

    // A line that is written in two parts arrives once it is complete.
    let path = record(folder.path(), "a");
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
    let written = record_of("a");
    let folder = folder_with(&format!("{}\n", written.join("\n"))).await;
    let studio = Served::over(folder.path()).await;

    let text = studio.watch(EVENTS, "").await.until("event: current").await;
    let ids: Vec<_> = text
        .lines()
        .filter_map(|line| line.strip_prefix("id: "))
        .collect();
    assert_eq!(ids.len(), 5);

    let missed = format!("Last-Event-ID: {}\r\n", ids[2]);
    let text = studio
        .watch(EVENTS, &missed)
        .await
        .until("event: current")
        .await;
    assert_eq!(lines(&text).len(), 2);
    assert_eq!(lines(&text)[0]["type"], "reported");

    let path = format!("{EVENTS}&from={}", ids[3]);
    let text = studio.watch(&path, "").await.until("event: current").await;
    assert_eq!(lines(&text).len(), 1);

    // An id that isn't the end of a line is of another record.
    for wrong in ["3", "999999"] {
        let wrong = format!("Last-Event-ID: {wrong}\r\n");
        let text = studio.watch(EVENTS, &wrong).await.rest().await;
        assert!(text.contains("event: replaced"), "{text}");
    }
}

#[tokio::test]
async fn damaged_lines_are_named_and_skipped() {
    let written = record_of("a");
    let text = format!(
        "{}\n{{\"at\": broken\n\u{0}\n{}\nnot JSON\n{}\n{{\"torn",
        written[0],
        written[1].replace(",", ",\r"),
        written[2]
    );
    let folder = folder_with(&text).await;
    append(&record(folder.path(), "a"), "\n");
    let mut bytes = std::fs::read(record(folder.path(), "a")).unwrap();
    bytes.extend(b"\xff\xfe\n");
    std::fs::write(record(folder.path(), "a"), bytes).unwrap();

    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.until("event: current").await;
    assert_eq!(lines(&text).len(), 3, "{text}");
    assert_eq!(text.matches("event: damaged").count(), 5, "{text}");
}

#[tokio::test]
async fn lines_that_are_too_long_are_skipped() {
    let written = record_of("a");
    let long = format!(
        "{{\"type\":\"noted\",\"text\":\"{}\"}}",
        "x".repeat(17 << 20)
    );
    let folder = folder_with(&format!("{}\n{long}\n{}\n", written[0], written[1])).await;

    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.until("event: current").await;
    assert_eq!(lines(&text).len(), 2);
    assert_eq!(text.matches("event: damaged").count(), 1);
    assert!(text.len() < 10_000);
}

#[tokio::test]
async fn a_record_of_a_newer_version_is_refused() {
    let folder =
        folder_with("{\"cogwork_record\":99,\"run\":\"a\",\"flow\":\"f\",\"started\":1}\n").await;
    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.rest().await;
    assert!(
        text.contains("event: refused") && text.contains("99"),
        "{text}"
    );
    assert_eq!(lines(&text).len(), 0);
}

#[tokio::test]
async fn a_foreign_file_is_refused() {
    let folder = folder_with("hello\n").await;
    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.rest().await;
    assert!(text.contains("event: refused"), "{text}");
}

#[cfg(unix)]
#[tokio::test]
async fn a_link_is_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    let secret = folder.path().join("secret");
    std::fs::write(&secret, format!("{}\n", record_of("a")[0])).unwrap();
    std::os::unix::fs::symlink(&secret, record(folder.path(), "a")).unwrap();

    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.until("event: current").await;
    assert_eq!(
        lines(&text)[0]["content"],
        "none",
        "the journal is shown instead"
    );
}

#[tokio::test]
async fn a_record_that_is_replaced_begins_anew() {
    let written = record_of("a");
    let folder = folder_with(&format!("{}\n{}\n", written[0], written[1])).await;
    let studio = Served::over(folder.path()).await;
    let mut browser = studio.watch(EVENTS, "").await;
    browser.until("event: current").await;

    std::fs::write(record(folder.path(), "a"), format!("{}\n", written[0])).unwrap();
    assert!(browser.rest().await.contains("event: replaced"));
}

#[tokio::test]
async fn a_run_without_a_record_is_shown_from_its_journal() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    let studio = Served::over(folder.path()).await;

    let mut browser = studio.watch(EVENTS, "").await;
    let text = browser.until("event: current").await;
    let events = lines(&text);
    assert_eq!(events[0]["flow"], "rate");
    let kinds: Vec<_> = events
        .iter()
        .filter_map(|event| event["type"].as_str())
        .collect();
    assert_eq!(
        kinds,
        ["step_entered", "phase_finished", "step_entered", "paused"]
    );

    // Once somebody records the run, the page reads the record.
    append(
        &record(folder.path(), "a"),
        &format!("{}\n", record_of("a")[0]),
    );
    assert!(browser.rest().await.contains("event: replaced"));
}

#[tokio::test]
async fn many_megabytes_are_sent_only_on_request() {
    let mut written = record_of("a");
    let text = "x".repeat(15 << 20);
    let long = format!("{{\"at\":9.0,\"type\":\"noted\",\"text\":\"{text}\"}}");
    written.extend(vec![long; 5]);
    let folder = folder_with(&format!("{}\n", written.join("\n"))).await;

    let studio = Served::over(folder.path()).await;
    let text = studio.watch(EVENTS, "").await.rest().await;
    assert!(text.contains("event: limit"));
}

#[tokio::test]
async fn a_gigabyte_is_never_read_as_a_whole_for_the_list() {
    let written = record_of("a");
    let folder = folder_with(&format!("{}\n", written.join("\n"))).await;
    let path = record(folder.path(), "a");

    // A hole in the file costs no room on the disk.
    let mut file = OpenOptions::new().write(true).open(&path).unwrap();
    file.seek(SeekFrom::Start(1 << 30)).unwrap();
    file.write_all(b"\n{\"at\":9.0,\"type\":\"noted\",\"text\":\"the end\"}\n")
        .unwrap();
    drop(file);

    let studio = Served::over(folder.path()).await;
    let totals = studio.get("/api/runs").await.json()["runs"][0]["totals"].clone();
    assert_eq!(totals["calls"], 1);
    assert_eq!(totals["is_partial"], true);
}

/// The journal of a run without a record.
#[tokio::test]
async fn a_view_from_past_the_end_has_no_events() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    let studio = Served::over(folder.path()).await;

    let path = format!("{EVENTS}&from=j{}", u64::MAX);
    let text = studio.watch(&path, "").await.until("event: current").await;
    assert_eq!(lines(&text).len(), 0, "{text}");
}

#[tokio::test]
async fn a_browser_that_leaves_gives_its_place_back() {
    let folder = folder_with(&format!("{}\n", record_of("a").join("\n"))).await;
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
