//! Forks of runs.

use std::path::Path;
use std::time::Duration;

use cogwork_journal::{RunStatus, RunSummary, Store};
use serde_json::{Value, json};

use super::client::{Answer, Served};
use super::flows::rating;
use super::runs::{asking, at, pause, paused};

async fn studio(place: &Path) -> Served {
    Served::with_flows(place, rating()).await
}

async fn fork(studio: &Served, run_id: &str, at: Value) -> Answer {
    let body = json!({"id": run_id, "at": at});
    studio.post("/api/run/forks", &body).await
}

/// Returns a run once it has stopped.
async fn run(store: &Store, run_id: &str) -> RunSummary {
    while store.is_in_use(run_id).await.unwrap() {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let mut runs = store.runs().await.unwrap().into_iter();
    runs.find(|run| run.run_id == run_id).unwrap()
}

#[tokio::test]
async fn a_run_is_forked_at_a_step() {
    let (folder, store) = paused().await;
    // It may be in use.
    let _journal = store.resume("a", &asking()).await.unwrap();
    let studio = studio(folder.path()).await;
    assert_eq!(studio.get("/api/run?id=a").await.json()["can_fork"], true);

    let forked = fork(&studio, "a", json!(2)).await.json();
    assert_eq!(forked, json!({"run": "a fork 1", "forked_from": "a"}));
    let forked = run(&store, "a fork 1").await;
    let is_paused = matches!(forked.status, RunStatus::Paused { .. });
    assert!(is_paused, "{forked:?}");
    assert_eq!(forked.fork.unwrap().step, 2);

    // A fork of the fork, whose id has spaces.
    let again = fork(&studio, "a fork 1", json!(1)).await.json();
    assert_eq!(again["run"], "a fork 1 fork 1");
    let shown = studio.get("/api/run?id=a+fork+1+fork+1").await.json();
    assert_eq!(shown["run"]["forked_from"]["run"], "a fork 1");
}

#[tokio::test]
async fn what_cannot_be_forked_is_refused_and_nothing_is_started() {
    let (folder, store) = paused().await;
    let studio = studio(folder.path()).await;

    for (step, status) in [
        (json!(0), 422),
        (json!(4), 422),
        (json!(u64::MAX), 422),
        (json!(-1), 400),
        (json!(1.5), 400),
        (json!("1"), 400),
        (json!(null), 400),
    ] {
        let answer = fork(&studio, "a", step.clone()).await;
        assert_eq!(answer.status, status, "{step}: {answer:?}");
    }
    let refused = fork(&studio, "a", json!(4)).await;
    assert!(refused.error().contains("from 1 to 3"), "{refused:?}");

    assert_eq!(fork(&studio, "b", json!(1)).await.status, 404);
    assert_eq!(store.runs().await.unwrap().len(), 1);
}

#[tokio::test]
async fn runs_with_any_id_are_forked() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    let studio = studio(folder.path()).await;
    let ids = [
        "../up".to_owned(),
        "</script>&a=b#c%00+?".to_owned(),
        "„é\u{202e}\u{7}\n".to_owned(),
        "x".repeat(400),
    ];

    for id in ids {
        pause(&store, &id, "a tale").await;
        let forked = fork(&studio, &id, json!(2)).await;
        assert_eq!(forked.status, 200, "{id:?}: {forked:?}");
        let fork = forked.json()["run"].as_str().unwrap().to_owned();
        assert_eq!(fork, format!("{id} fork 1"));
        assert_eq!(run(&store, &fork).await.fork.unwrap().run_id, id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_at_once_are_different_runs() {
    let (folder, _) = paused().await;
    let studio = studio(folder.path()).await;

    let forks = (0..5).map(|_| fork(&studio, "a", json!(2)));
    let forked = futures_util::future::join_all(forks).await;
    let ids = forked.iter().map(|answer| answer.json()["run"].to_string());
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{forked:?}");
}

#[tokio::test]
async fn another_page_cannot_fork() {
    let (folder, _) = paused().await;
    let studio = studio(folder.path()).await;
    let body = json!({"id": "a", "at": 1}).to_string();
    let json = "Content-Type: application/json\r\n";

    for foreign in [
        "Origin: https://evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        let headers = format!("{json}{foreign}");
        let refused = studio.post_text("/api/run/forks", &headers, &body).await;
        assert_eq!(refused.status, 403);
    }
    let form = "Content-Type: text/plain\r\n";
    let refused = studio.post_text("/api/run/forks", form, &body).await;
    assert_eq!(refused.status, 415);
    let runs = at(folder.path()).runs().await.unwrap();
    assert_eq!(runs.len(), 1);
}

#[tokio::test]
async fn a_run_of_a_flow_that_is_not_offered_is_not_forked() {
    let (folder, _) = paused().await;
    let studio = Served::over(folder.path()).await;
    assert_eq!(studio.get("/api/run?id=a").await.json()["can_fork"], false);
    assert_eq!(fork(&studio, "a", json!(1)).await.status, 404);
}
