//! The list of runs.

use std::path::Path;

use serde_json::json;

use super::client::{Served, events_of};
use super::flows::rating;
use super::runs::{at, fail, happened, pause, paused, places};

async fn fill(place: &Path) {
    let store = at(place);
    pause(&store, "a first run", "a tale").await;
    fail(&store, "b").await;
    pause(&store, "c/../<b>", "</script>").await;
}

async fn ids(studio: &Served, query: &str) -> Vec<String> {
    let listed = studio.get(&format!("/api/runs?{query}")).await.json();
    let runs = listed["runs"].as_array().unwrap().iter();
    let ids = runs.map(|run| run["id"].as_str().unwrap().to_owned());
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

#[tokio::test]
async fn the_runs_of_a_folder_and_of_a_database_are_listed() {
    let (_folder, places) = places();
    for place in places {
        runs_are_listed(&place).await;
    }
}

async fn runs_are_listed(place: &Path) {
    fill(place).await;
    let studio = Served::over(place).await;

    for (query, expected) in [
        ("", &["a first run", "b", "c/../<b>"][..]),
        ("status=failed", &["b"]),
        ("status=paused", &["a first run", "c/../<b>"]),
        ("status=ended", &[]),
        ("search=FIRST", &["a first run"]),
        ("search=no+luck", &["b"]),
        ("search=how+good+is+%3C%2Fscript", &["c/../<b>"]),
        ("search=rating&status=failed", &[]),
        // A word of the schema.
        ("search=integer", &[]),
        ("page=1", &[]),
    ] {
        assert_eq!(ids(&studio, query).await, expected, "{query}");
    }
    assert_eq!(studio.get("/api/runs?status=gone").await.status, 400);
    assert_eq!(studio.get("/api/runs?page=-1").await.status, 400);

    let run = studio.get("/api/run?id=c%2F..%2F%3Cb%3E").await.json();
    assert_eq!(run["run"]["waits"][0]["event"], "rating");
    assert_eq!(run["run"]["waits"][0]["why"], "how good is </script>?");
    let schema = run["run"]["waits"][0]["schema"].as_str().unwrap();
    assert!(schema.contains(r#""type":"object""#), "{schema}");
    assert_eq!(studio.get("/api/run?id=d").await.status, 404);
    assert_eq!(studio.get("/api/run").await.status, 400);
}

#[tokio::test]
async fn a_place_without_runs_is_an_empty_list() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::over(&folder.path().join("none")).await;
    assert_eq!(ids(&studio, "").await.len(), 0);
}

#[tokio::test]
async fn a_damaged_run_does_not_hide_the_others() {
    let folder = tempfile::tempdir().unwrap();
    fill(folder.path()).await;
    std::fs::write(folder.path().join("foreign.jsonl"), "{}\n").unwrap();

    let studio = Served::over(folder.path()).await;
    assert_eq!(ids(&studio, "").await.len(), 4);
    assert_eq!(ids(&studio, "status=damaged").await, ["foreign"]);
}

#[tokio::test]
async fn a_damaged_run_is_named_as_such() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a%20%54ale.jsonl"), "{}\n").unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;

    assert_eq!(ids(&studio, "").await, ["a Tale"]);
    let shown = studio.get("/api/run?id=a+Tale").await.json();
    assert_eq!(shown["run"]["status"], "damaged");

    for (path, more) in [
        ("resume", json!({})),
        ("cancel", json!({})),
        ("forks", json!({"at": 1})),
        ("answers", json!({"event": "rating", "answer": 5})),
    ] {
        let mut body = more;
        body["id"] = json!("a Tale");
        let refused = studio.post(&format!("/api/run/{path}"), &body).await;
        assert_eq!(refused.status, 500, "{path}: {refused:?}");
        assert!(refused.error().starts_with("damaged: "), "{refused:?}");
    }
}

#[tokio::test]
async fn pages_have_fifty_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    for number in 0..53 {
        fail(&store, &format!("run {number}")).await;
    }

    let studio = Served::over(folder.path()).await;
    for (query, count, has_more) in [
        ("page=0", 50, true),
        ("page=1", 3, false),
        ("page=0&search=run", 50, true),
        ("page=1&search=run", 3, false),
    ] {
        let page = studio.get(&format!("/api/runs?{query}")).await.json();
        assert_eq!(page["runs"].as_array().unwrap().len(), count, "{query}");
        assert_eq!(page["has_more"], has_more, "{query}");
    }
}

#[tokio::test]
async fn the_cost_is_that_of_the_events_so_far() {
    let (folder, _) = paused().await;
    let lines = happened("a");
    let path = events_of(folder.path(), "a");
    std::fs::write(&path, format!("{}\n{{\"at\":0.9,\"ty", lines.join("\n"))).unwrap();

    let studio = Served::over(folder.path()).await;
    let totals = async || studio.get("/api/runs").await.json()["runs"][0]["totals"].clone();
    let first = totals().await;
    assert_eq!(first["calls"], 1);
    assert_eq!(first["input_tokens"], 100);
    assert_eq!(first["output_tokens"], 20);
    assert_eq!(first["cost"], 0.25);
    assert_eq!(first["thoughts"], 1);

    // Only what is new is added.
    let more = format!("{}\n{}\n", lines.join("\n"), lines[3]);
    std::fs::write(&path, more).unwrap();
    assert_eq!(totals().await["cost"], 0.5);
}
