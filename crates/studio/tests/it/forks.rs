//! Forks of runs.

use std::path::Path;
use std::time::Duration;

use cogwork_journal::{RunStatus, RunSummary, Store};
use serde_json::{Value, json};

use super::client::{Answer, Served};
use super::flows::rating;
use super::runs::{asking, at, pause};

async fn studio(place: &Path) -> Served {
    Served::with_flows(place, rating()).await
}

/// Starts the run `a`, which is answered with five stars.
async fn answered(store: &Store) {
    pause(store, "a", "a tale").await;
    store
        .deliver("a", "rating", &json!({"stars": 5}))
        .await
        .unwrap();

    let flow = asking();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut state: String = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap();
}

async fn choices(studio: &Served, step: &str) -> Answer {
    studio.get(&format!("/api/run/forks?id=a&at={step}")).await
}

async fn fork(studio: &Served, fork: Value) -> Answer {
    let body = json!({"id": "a", "fork": fork});
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
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    answered(&store).await;
    let studio = studio(folder.path()).await;
    assert_eq!(studio.get("/api/run?id=a").await.json()["can_fork"], true);

    let forked = fork(&studio, json!({"at": 2})).await.json();
    assert_eq!(forked, json!({"run": "a fork 1", "forked_from": "a"}));
    let fork = run(&store, "a fork 1").await;
    assert!(matches!(fork.status, RunStatus::Paused { .. }), "{fork:?}");
    assert_eq!(fork.fork.unwrap().step, 2);

    // A fork of the fork, whose id has spaces.
    let body = json!({"id": "a fork 1", "fork": {"at": 1}});
    let again = studio.post("/api/run/forks", &body).await.json();
    assert_eq!(again["run"], "a fork 1 fork 1");
    let shown = studio.get("/api/run?id=a+fork+1+fork+1").await.json();
    assert_eq!(shown["run"]["forked_from"]["run"], "a fork 1");
}

#[tokio::test]
async fn what_can_be_edited_is_shown_and_used() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    answered(&store).await;
    let studio = studio(folder.path()).await;

    let shown = choices(&studio, "2").await.json();
    assert_eq!(shown["at"], 2);
    assert_eq!(shown["state"], "\"a tale\"");
    assert_eq!(shown["outcomes"][0]["step"], "rate/ask#2");
    assert_eq!(shown["outcomes"][0]["text"], "{\n  \"stars\": 5\n}");
    assert_eq!(shown["flow_changes"], Value::Null);

    let outcomes = json!([{"step": "rate/ask#2", "text": "{\"stars\": 1}"}]);
    let edited = json!({"at": 2, "outcomes": outcomes, "state": "\"a poem\""});
    let forked = fork(&studio, edited).await.json();
    let fork = run(&store, forked["run"].as_str().unwrap()).await;
    assert!(matches!(fork.status, RunStatus::Ended { .. }), "{fork:?}");
    let origin = fork.fork.unwrap();
    assert_eq!(origin.edited_outcomes, ["rate/ask#2"]);
    assert!(origin.edited_state);
}

#[tokio::test]
async fn each_part_is_checked_and_nothing_is_started() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    answered(&store).await;
    let studio = studio(folder.path()).await;
    let outcome = |step: &str, text: &str| json!([{"step": step, "text": text}]);

    let refused = [
        (json!({"at": 0}), "at", "counted from 1"),
        (json!({"at": 4}), "at", "expected a step from 1 to 3"),
        (
            json!({"at": 18_446_744_073_709_551_615_u64}),
            "at",
            "from 1 to 3",
        ),
        (json!({"at": 2, "state": ""}), "state", "EOF"),
        (
            json!({"at": 2, "state": "\n {"}),
            "state",
            "line 2 column 1",
        ),
        (json!({"at": 2, "state": "5"}), "state", "expected a string"),
        (
            json!({"at": 2, "outcomes": outcome("rate/ask#2", "{\n\"stars\": }")}),
            "outcome",
            "line 2 column 10",
        ),
        (
            json!({"at": 2, "outcomes": outcome("rate/ask#3", "1")}),
            "outcome",
            "expected `rate/ask#2`",
        ),
        (
            json!({"at": 3, "outcomes": outcome("rate/ask#2", "1")}),
            "outcome",
            "no outcome of `rate/ask#2`",
        ),
        (
            json!({"at": 1, "outcomes": outcome("rate/draft#1", "\"x\"")}),
            "outcome",
            "cannot be read",
        ),
    ];
    for (body, part, problem) in refused {
        let answer = fork(&studio, body.clone()).await;
        assert_eq!(answer.status, 422, "{body}: {answer:?}");
        assert_eq!(answer.json()["part"], part, "{body}: {answer:?}");
        assert!(answer.error().contains(problem), "{body}: {answer:?}");
    }

    for body in [
        json!({"at": -1}),
        json!({"at": 1.5}),
        json!({"at": "1"}),
        json!({}),
        json!({"at": 1, "more": 1}),
        json!({"at": 1, "state": {"a": 1}}),
        json!({"at": 1, "outcomes": "x"}),
    ] {
        let answer = fork(&studio, body.clone()).await;
        assert_eq!(answer.status, 400, "{body}: {answer:?}");
    }
    for step in ["0", "4"] {
        let answer = choices(&studio, step).await;
        assert_eq!((answer.status, &answer.json()["part"]), (422, &json!("at")));
    }
    for step in ["", "-1", "x", "99999999999999999999"] {
        assert_eq!(choices(&studio, step).await.status, 400, "{step}");
    }

    let missing = json!({"id": "b", "fork": {"at": 1}});
    let missing = studio.post("/api/run/forks", &missing).await;
    assert_eq!(missing.status, 404);
    assert_eq!(store.runs().await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_run_that_waits_or_is_in_use_is_forked() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "a tale").await;
    let _journal = store.resume("a", &asking()).await.unwrap();
    let studio = studio(folder.path()).await;

    for step in ["2", "3"] {
        let shown = choices(&studio, step).await.json();
        assert_eq!(shown["outcomes"], json!([]), "{shown}");
        assert_eq!(shown["state"], "\"a tale\"");
    }
    for at in [1, 2, 3] {
        let forked = fork(&studio, json!({"at": at})).await.json();
        let fork = run(&store, forked["run"].as_str().unwrap()).await;
        assert!(matches!(fork.status, RunStatus::Paused { .. }), "{fork:?}");
    }
}

#[tokio::test]
async fn a_damaged_run_is_not_forked() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "a tale").await;
    let studio = studio(folder.path()).await;

    let file = std::fs::read_dir(folder.path()).unwrap();
    let file = file.map(|entry| entry.unwrap().path());
    let file = file.filter(|path| path.extension().is_some_and(|ending| ending == "jsonl"));
    let file = file.last().unwrap();
    let text = std::fs::read_to_string(&file).unwrap();
    std::fs::write(&file, text.replace("rate", "\u{0}")).unwrap();
    let answer = choices(&studio, "1").await;
    assert!(answer.status >= 400, "{answer:?}");
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
        let body = json!({"id": id, "fork": {"at": 2}});
        let forked = studio.post("/api/run/forks", &body).await;
        assert_eq!(forked.status, 200, "{id:?}: {forked:?}");
        let fork = forked.json()["run"].as_str().unwrap().to_owned();
        assert_eq!(fork, format!("{id} fork 1"));
        assert_eq!(run(&store, &fork).await.fork.unwrap().run_id, id);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn forks_at_once_are_different_runs() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    answered(&store).await;
    let studio = studio(folder.path()).await;

    let forks = (0..5).map(|_| fork(&studio, json!({"at": 2})));
    let forked = futures_util::future::join_all(forks).await;
    let mut ids: Vec<_> = forked
        .iter()
        .map(|answer| answer.json()["run"].as_str().unwrap().to_owned())
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 5, "{forked:?}");
}

#[tokio::test]
async fn texts_to_edit_have_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", &"x".repeat(300_000)).await;
    let studio = studio(folder.path()).await;
    let shown = choices(&studio, "2").await.json();
    assert_eq!(shown["state"], Value::Null);
    let problem = shown["problem"].as_str().unwrap();
    assert!(problem.contains("too long"), "{problem}");
    assert_eq!(fork(&studio, json!({"at": 2})).await.status, 200);
}

#[tokio::test]
async fn another_page_cannot_fork() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    let studio = studio(folder.path()).await;
    let body = json!({"id": "a", "fork": {"at": 1}}).to_string();
    let json = "Content-Type: application/json\r\n";

    for foreign in [
        "Origin: https://evil.example\r\n",
        "Sec-Fetch-Site: cross-site\r\n",
    ] {
        let headers = format!("{json}{foreign}");
        let refused = studio.post_text("/api/run/forks", &headers, &body).await;
        assert_eq!(refused.status, 403);
        let request = studio.request("/api/run/forks?id=a&at=1", foreign);
        assert_eq!(studio.send(&request).await.status, 403);
    }
    let form = "Content-Type: text/plain\r\n";
    let refused = studio.post_text("/api/run/forks", form, &body).await;
    assert_eq!(refused.status, 415);
    let runs = at(folder.path()).runs().await.unwrap();
    assert_eq!(runs.len(), 1);
}

#[tokio::test]
async fn a_run_of_a_flow_that_is_not_offered_is_not_forked() {
    let folder = tempfile::tempdir().unwrap();
    pause(&at(folder.path()), "a", "x").await;
    let studio = Served::over(folder.path()).await;
    assert_eq!(studio.get("/api/run?id=a").await.json()["can_fork"], false);
    assert_eq!(fork(&studio, json!({"at": 1})).await.status, 404);
    assert_eq!(choices(&studio, "1").await.status, 404);
}
