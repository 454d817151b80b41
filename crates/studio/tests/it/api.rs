//! The API as a part of a program's own server.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use axum::Router;
use axum::http::request::Parts;
use cogwork_flow::{Action, Flow, Wait};
use cogwork_journal::{RunQuery, RunStatus, RunSummary, Store};
use cogwork_studio::{Runner, ServedFlow, View, api};
use serde_json::{Value, json};

use super::client::{Served, Watching, lines};
use super::flows::rating;
use super::runs::{asking, at, fail, pause, paused, places};

const PUBLIC: &str = "/api/run/events?id=a";

/// Returns a server in which the bearer of `full` sees everything, that of `public` less, and others
/// nothing.
async fn served(store: &Store, token: &str) -> Served {
    let view = |request: &Parts| {
        let token = request.headers.get("authorization")?.to_str().ok()?;
        match token {
            "Bearer full" => Some(View::Full),
            "Bearer public" => Some(View::Public),
            _ => None,
        }
    };
    let runner = Runner::new(store.clone(), rating());
    Served::router(Router::new().nest("/api", api(runner, view)), token).await
}

async fn answer(server: &Served, stars: u32) -> Value {
    let body = json!({"id": "a", "event": "rating", "answer": {"stars": stars}});
    server.post("/api/run/answers", &body).await.json()
}

fn types(text: &str) -> Vec<String> {
    let events = lines(text).into_iter();
    events
        .map(|event| event["type"].as_str().unwrap().to_owned())
        .collect()
}

/// Returns the id of the last event that arrived.
fn last_id(text: &str) -> String {
    let mut ids = text.lines().filter_map(|line| line.strip_prefix("id: "));
    ids.next_back().unwrap().to_owned()
}

async fn follow(server: &Served, after: &str) -> Watching {
    let header = format!("Last-Event-ID: {after}\r\n");
    server.watch(PUBLIC, &header).await
}

#[tokio::test]
async fn a_client_comes_back_to_a_run_in_a_folder_and_in_a_database() {
    let (_folder, places) = places();
    for place in places {
        a_client_comes_back(&place).await;
    }
}

async fn a_client_comes_back(place: &Path) {
    let store = at(place);
    let server = served(&store, "public").await;
    let body = json!({"flow": "rate", "input": "a secret tale", "id": "a"});
    server.post("/api/runs", &body).await;

    let first = server.watch(PUBLIC, "").await.until("paused").await;
    assert_eq!(types(&first), ["opened", "phase_finished", "paused"]);
    let wait = &lines(&first)[2];
    assert_eq!(wait["why"], "how good is a secret tale?");
    assert_eq!(wait["schema"]["type"], "object");

    answer(&server, 4).await;
    let mut again = follow(&server, &last_id(&first)).await;
    let rest = again.until("ended").await;
    assert_eq!(types(&rest), ["phase_finished", "ended"]);
    assert_eq!(lines(&rest)[1]["answer"], r#"{"stars":4}"#);

    let end = follow(&server, &last_id(&rest)).await;
    let nothing = { end }.until("event: current").await;
    assert_eq!(types(&nothing), Vec::<String>::new());
}

#[tokio::test]
async fn each_permission_has_its_view() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    let full = served(&store, "full").await;
    let start = json!({"flow": "rate", "input": "a tale", "id": "a"});
    full.post("/api/runs", &start).await;
    full.until("a", "paused").await;
    fail(&store, "failed").await;

    let public = served(&store, "public").await;
    let other = served(&store, "other").await;
    for path in ["/api/runs", "/api/run?id=a", PUBLIC, "/api/flows"] {
        assert_eq!(other.get(path).await.status, 403, "{path}");
    }

    let of = async |server: &Served, run: &str| {
        let shown = server.get(&format!("/api/run?id={run}")).await.json();
        shown["run"].clone()
    };
    assert_eq!(of(&full, "a").await["input"], "a tale");
    assert_eq!(of(&public, "a").await["input"], Value::Null);
    assert_eq!(of(&public, "a").await["totals"], Value::Null);
    assert_eq!(of(&public, "failed").await["error"], Value::Null);
    assert!(of(&full, "failed").await["error"].is_string());
    let found = public.get("/api/runs?search=no+luck").await.json();
    assert_eq!(found["runs"], json!([]));

    let events = full.watch(PUBLIC, "").await.until("event: current").await;
    assert_eq!(lines(&events)[0]["input"], "a tale");
    let events = public.watch("/api/run/events?id=failed", "").await;
    let events = { events }.until("event: current").await;
    assert!(!events.contains("no luck"), "{events}");

    let fork = json!({"id": "a", "at": 1});
    assert_eq!(public.post("/api/run/forks", &fork).await.status, 403);
}

#[tokio::test]
async fn a_cancelled_run_has_failed_and_is_not_continued() {
    let (_folder, store) = paused().await;
    let server = served(&store, "public").await;

    let cancelled = server.post("/api/run/cancel", &json!({"id": "a"})).await;
    assert_eq!(cancelled.status, 200, "{cancelled:?}");
    let text = server.watch(PUBLIC, "").await.until("failed").await;
    let last = lines(&text).pop().unwrap();
    assert_eq!(last["error"], "the run was cancelled");
    assert!(answer(&server, 5).await["error"].is_string());
    let runner = Runner::new(store.clone(), rating());
    assert!(runner.resume_interrupted().await.unwrap().is_empty());

    let missing = server.post("/api/run/cancel", &json!({"id": "b"})).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn a_cancelled_run_that_is_resumed_waits_again() {
    let (_folder, places) = places();
    for place in places {
        let store = at(&place);
        pause(&store, "a", "a tale").await;
        let server = served(&store, "full").await;

        for change in ["cancel", "resume"] {
            let path = format!("/api/run/{change}");
            let changed = server.post(&path, &json!({"id": "a"})).await;
            assert_eq!(changed.status, 200, "{changed:?}");
        }
        server.until("a", "paused").await;
        assert_eq!(answer(&server, 5).await["delivered"], true);
        server.until("a", "ended").await;
    }
}

#[tokio::test]
async fn waits_that_time_out_end_without_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    drop(store.start("interrupted", &asking(), &"x").await.unwrap());
    let wait = Wait::for_event("rating", |_: &mut String, _: Value| ())
        .with_timeout(Duration::from_millis(20));
    let short = Flow::builder("short")
        .wait("ask", wait)
        .chain(["ask"])
        .end("ask", Action::TIMED_OUT)
        .build()
        .unwrap();

    let begin = |input| Ok(serde_json::from_value(input)?);
    let served = ServedFlow::new(short, begin, |_: &String| None);
    let runner = Runner::new(store.clone(), vec![served]);
    let run = runner.start("short", json!("x"), None).await.unwrap();
    for _ in 0..500 {
        let resumed = runner.resume_timed_out().await.unwrap();
        assert!(
            resumed
                .iter()
                .all(|(resumed, result)| *resumed == run && result.is_ok())
        );
        let runs = store.runs().await.unwrap();
        let ended = |other: &RunSummary| matches!(other.status, RunStatus::Ended { .. });
        if runs.iter().any(|other| other.run_id == run && ended(other)) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", store.runs().await);
}

#[tokio::test]
async fn interrupted_runs_continue_after_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    // One with an answer that isn't used yet, one that waits, and one that never began.
    pause(&store, "a", "x").await;
    let stars = json!({"stars": 3});
    store.deliver("a", "rating", &stars).await.unwrap();
    pause(&store, "waits", "x").await;
    drop(store.start("began", &asking(), &"x").await.unwrap());

    let runner = Runner::new(store.clone(), rating());
    let resumed = runner.resume_interrupted().await.unwrap();
    let resumed: BTreeMap<_, _> = resumed
        .iter()
        .map(|(run, result)| (run.as_str(), result.is_ok()))
        .collect();
    assert_eq!(resumed, [("a", true), ("began", true)].into());
    for _ in 0..500 {
        let runs = store.runs().await.unwrap();
        let paused = |run: &RunStatus| matches!(run, RunStatus::Paused { .. });
        if matches!(runs[0].status, RunStatus::Ended { .. }) && paused(&runs[1].status) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:?}", store.runs().await);
}

/// A query finds the newest hundred by default.
#[tokio::test]
async fn all_interrupted_runs_continue() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    for number in 0..110 {
        let run = format!("run {number}");
        drop(store.start(&run, &asking(), &"x").await.unwrap());
        while store.is_in_use(&run).await.unwrap() {}
    }

    let runner = Runner::new(store.clone(), rating());
    let resumed = runner.resume_interrupted().await.unwrap();
    assert!(resumed.iter().all(|(_, result)| result.is_ok()));
    assert_eq!(resumed.len(), 110);
}

#[tokio::test]
async fn an_answer_that_a_crash_lost_is_made_again() {
    let (_folder, store) = paused().await;
    let stars = json!({"stars": 3});
    store.deliver("a", "rating", &stars).await.unwrap();
    // This run has no recorder, like one whose program was killed before it recorded the answer.
    let flow = asking();
    let journal = store.resume("a", &flow).await.unwrap();
    let mut state: String = journal.state().unwrap();
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut state).await.unwrap();
    drop(run);

    let server = served(&store, "public").await;
    let text = server.watch(PUBLIC, "").await.until("ended").await;
    assert_eq!(lines(&text).last().unwrap()["answer"], r#"{"stars":3}"#);
    let types = types(&text);
    assert_eq!(types.iter().filter(|kind| *kind == "ended").count(), 1);
}

/// A state of an earlier version of the program.
#[tokio::test]
async fn a_run_whose_state_cannot_be_read_is_named_and_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    drop(store.start("old", &asking(), &7).await.unwrap());
    while store.is_in_use("old").await.unwrap() {}

    let runner = Runner::new(store.clone(), rating());
    let resumed = runner.resume_interrupted().await.unwrap();
    let [(run, Err(error))] = resumed.as_slice() else {
        panic!("{resumed:?}");
    };
    assert_eq!(run, "old");
    assert!(error.to_string().contains("the input"), "{error}");
    assert_eq!(store.query(RunQuery::new().open()).await.unwrap().len(), 1);

    runner.cancel("old").await.unwrap();
    assert!(runner.resume_interrupted().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_run_that_has_failed_says_with_what_if_the_client_may_see_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "a tale").await;
    store.cancel("a", "no disk").await.unwrap();

    let told = "the run has failed, and must be resumed before it is answered: ";
    for (token, error) in [
        ("full", "no disk"),
        ("public", "the error isn't shown here"),
    ] {
        let refused = answer(&served(&store, token).await, 5).await;
        assert_eq!(refused["error"], format!("{told}{error}"));
    }
}
