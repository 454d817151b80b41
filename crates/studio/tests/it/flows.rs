//! Flows that the page starts and resumes.

use std::num::NonZeroU64;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use axum::http::request::Parts;
use cogwork_flow::engine::Entry;
use cogwork_flow::watch::note_growth;
use cogwork_flow::{Branches, Flow, from_exec_with, from_fn};
use cogwork_journal::{RunStatus, RunSummary, Store};
use cogwork_studio::{Runner, ServedFlow, View, api};
use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;

use super::client::Served;
use super::runs::{asking, at, fail, pause, places};

/// Returns the flow that asks for a rating.
pub(crate) fn rating() -> Vec<ServedFlow> {
    let begin = |input| Ok(serde_json::from_value(input)?);
    let answer = |state: &String| Some(state.clone());
    vec![ServedFlow::new(asking(), begin, answer)]
}

#[tokio::test]
async fn a_flow_is_started_and_resumed_after_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;
    assert_eq!(
        studio.get("/api/flows").await.json(),
        json!({"flows": ["rate"]})
    );

    let tale = "a tale".repeat(1_000);
    let body = json!({"flow": "rate", "input": tale, "id": "my tale"});
    let started = studio.post("/api/runs", &body).await.json();
    assert_eq!(started["run"], "my tale");
    let run = studio.until("my+tale", "paused").await;
    assert_eq!(run["can_resume"], true);
    assert_eq!(run["run"]["input"], tale);
    let listed = studio.get("/api/runs").await.json();
    let beginning = listed["runs"][0]["input"].as_str().unwrap();
    assert_eq!(beginning.chars().count(), 2_001);

    let body = json!({"id": "my tale", "event": "rating", "answer": {"stars": 2}});
    let delivered = studio.post("/api/run/answers", &body).await.json();
    assert_eq!(delivered["resumed"], true, "{delivered}");
    let run = studio.until("my+tale", "ended").await;
    assert_eq!(run["run"]["answer"], r#"{"stars":2}"#);

    let body = json!({"id": "my tale"});
    let refused = studio.post("/api/run/resume", &body).await;
    assert_eq!(refused.status, 409, "{refused:?}");
    assert!(refused.error().contains("has ended"), "{refused:?}");
}

#[tokio::test]
async fn the_same_start_again_is_answered_and_another_one_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    let studio = Served::with_flows(folder.path(), rating()).await;
    let body = json!({"flow": "rate", "input": "a tale", "id": "a"});
    studio.post("/api/runs", &body).await;
    studio.until("a", "paused").await;

    let again = studio.post("/api/runs", &body).await;
    assert_eq!((again.status, again.json()), (200, json!({"run": "a"})));
    let in_use = store.resume("a", &asking()).await.unwrap();
    assert_eq!(studio.post("/api/runs", &body).await.status, 200);
    drop(in_use);

    let flow = Flow::<()>::from_node(
        "other",
        from_exec_with((), async |(), ()| Ok::<_, std::io::Error>(())),
    );
    drop(store.start("b", &flow.unwrap(), &()).await.unwrap());
    for id in ["a", "b"] {
        let body = json!({"flow": "rate", "input": "another tale", "id": id});
        let refused = studio.post("/api/runs", &body).await;
        assert_eq!(refused.status, 409);
        assert_eq!(
            refused.error(),
            "there is a run with this id, of a different flow or with a different input; choose a different id"
        );
    }
    assert_eq!(store.runs().await.unwrap().len(), 2);
}

#[tokio::test]
async fn an_input_that_the_flow_cannot_use_starts_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;
    let body = json!({"flow": "rate", "input": 5});
    let refused = studio.post("/api/runs", &body).await;
    assert_eq!(refused.status, 422);
    assert!(refused.error().contains("expected a string"), "{refused:?}");
    assert!(at(folder.path()).runs().await.unwrap().is_empty());
}

#[tokio::test]
async fn only_the_flows_that_are_offered_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;
    for flow in ["other", "", "../rate", "/etc/passwd"] {
        let refused = studio.post("/api/runs", &json!({"flow": flow})).await;
        assert_eq!(refused.status, 404, "{flow}");
    }
}

#[tokio::test]
async fn a_run_that_is_in_use_is_not_resumed() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    pause(&store, "a", "x").await;
    let _journal = store.resume("a", &asking()).await.unwrap();

    let studio = Served::with_flows(folder.path(), rating()).await;
    let refused = studio.post("/api/run/resume", &json!({"id": "a"})).await;
    assert_eq!(refused.status, 409);
    let shown = studio.get("/api/run?id=a").await.json();
    assert_eq!(shown["is_running"], false, "it waits: {shown}");
    let missing = studio.post("/api/run/resume", &json!({"id": "b"})).await;
    assert_eq!(missing.status, 404);
}

#[tokio::test]
async fn a_run_is_shown_as_running_while_it_is_open() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    let flow = asking();
    let journal = store.start("a", &flow, &"x").await.unwrap();
    let studio = Served::with_flows(folder.path(), rating()).await;
    let running = studio.get("/api/run?id=a").await.json();
    assert_eq!(running["is_running"], true);

    drop(journal);
    fail(&store, "b").await;
    for run in ["a", "b"] {
        let stopped = studio.get(&format!("/api/run?id={run}")).await.json();
        assert_eq!(stopped["is_running"], false, "{stopped}");
    }
}

#[tokio::test]
async fn texts_grow_piece_by_piece() {
    let folder = tempfile::tempdir().unwrap();
    let writing = from_exec_with((), async |(), ()| {
        // The end of a text is held back, since it may be the beginning of a secret.
        let more = ".".repeat(200);
        for text in [
            "One hun",
            &format!("ter2\n</script>{more}"),
            &format!("End{more}"),
        ] {
            tokio::time::sleep(Duration::from_secs(1)).await;
            note_growth(|| text.to_owned());
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok::<_, std::io::Error>(())
    });
    let flow = Flow::<()>::from_node("write", writing).unwrap();
    let flow = ServedFlow::new(flow, |_| Ok(()), |()| None)
        .with_secrets(|text| text.replace("hunter2", "…"));
    let studio = Served::with_flows(folder.path(), vec![flow]).await;

    let body = json!({"flow": "write", "id": "a"});
    studio.post("/api/runs", &body).await;
    let mut browser = studio.watch("/api/run/events?id=a", "").await;
    let text = browser.until("End").await;
    // The first one is empty, and says that a text starts.
    assert_eq!(text.matches("event: piece").count(), 3, "{text}");
    assert!(text.contains("One …\\n</script>"), "{text}");
}

/// A flow that works for so long, and the numbers of runs that work now and that worked at most.
fn working(time: Duration, at_once: &Arc<[AtomicUsize; 2]>) -> Vec<ServedFlow> {
    let at_once = Arc::clone(at_once);
    let work = from_exec_with((), move |(), ()| {
        let at_once = Arc::clone(&at_once);
        async move {
            let now = at_once[0].fetch_add(1, Ordering::SeqCst) + 1;
            at_once[1].fetch_max(now, Ordering::SeqCst);
            tokio::time::sleep(time).await;
            at_once[0].fetch_sub(1, Ordering::SeqCst);
            Ok::<_, std::io::Error>(())
        }
    });
    let flow = Flow::<()>::from_node("work", work).unwrap();
    vec![ServedFlow::new(flow, |_| Ok(()), |()| None)]
}

#[tokio::test]
async fn a_run_has_a_time_limit_and_a_journal_that_is_folded() {
    let folder = tempfile::tempdir().unwrap();
    let may_end = Arc::new(Notify::new());
    let ends = Arc::clone(&may_end);
    let wait = from_exec_with(ends, async |ends, ()| {
        ends.notified().await;
        Ok::<_, std::io::Error>(())
    });
    let flow = Flow::<()>::builder("work")
        .node("begin", from_fn(|(): &mut ()| ()))
        .node("wait", wait)
        .chain(["begin", "wait"]);
    let done = |(): &()| Some("done".to_owned());
    let flow = ServedFlow::new(flow.build().unwrap(), |_| Ok(()), done)
        .with_time_limit(Duration::from_millis(500))
        .with_fold_every(NonZeroU64::MIN);
    let studio = Served::with_flows(folder.path(), vec![flow]).await;

    let body = json!({"flow": "work", "id": "a"});
    studio.post("/api/runs", &body).await;
    let failed = studio.until("a", "failed").await;
    let error = failed["run"]["error"].as_str().unwrap();
    assert!(error.contains("reached its deadline"), "{error}");
    let entries = at(folder.path()).entries("a", 0..1).await.unwrap();
    assert!(matches!(entries[0].entry, Entry::Snapshot(_)));

    may_end.notify_one();
    studio.post("/api/run/resume", &json!({"id": "a"})).await;
    studio.until("a", "ended").await;
}

#[tokio::test]
async fn runs_that_are_resumed_wait_for_their_turn() {
    let folder = tempfile::tempdir().unwrap();
    let store = at(folder.path());
    let long = working(Duration::from_secs(3600), &Arc::default());
    let runner = Runner::new(store.clone(), long).with_concurrency(1);
    for id in 0..6 {
        let id = id.to_string();
        runner.start("work", json!(null), Some(&id)).await.unwrap();
    }
    // One that waits for its turn is cancelled all the same.
    runner.cancel("5").await.unwrap();
    runner.shut_down().await;

    let at_once = Arc::default();
    let short = working(Duration::from_millis(20), &at_once);
    let runner = Runner::new(store.clone(), short).with_concurrency(2);
    assert_eq!(runner.resume_interrupted().await.unwrap().len(), 5);
    let is_open = |run: &RunSummary| matches!(run.status, RunStatus::Open { .. });
    while store.runs().await.unwrap().iter().any(is_open) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(at_once[1].load(Ordering::SeqCst), 2);
}

/// One branch asks, and the other is busy until it may end.
fn asking_while_busy(may_end: &Arc<Notify>) -> Vec<ServedFlow> {
    let may_end = Arc::clone(may_end);
    let busy = from_exec_with((), move |(), ()| {
        let may_end = Arc::clone(&may_end);
        async move {
            may_end.notified().await;
            Ok::<_, std::io::Error>(())
        }
    });
    let join = |all: &mut String, one: String| all.push_str(&one);
    let branches = Branches::new()
        .branch("ask", asking(), String::clone, join)
        .branch(
            "work",
            Flow::<()>::from_node("work", busy).unwrap(),
            |_| (),
            |_, ()| (),
        );
    let flow = Flow::builder("both").branches("both", branches);
    let flow = flow.chain(["both"]).build().unwrap();
    let begin = |_| Ok(String::new());
    vec![ServedFlow::new(flow, begin, |said| Some(said.clone()))]
}

#[tokio::test]
async fn a_run_that_is_busy_elsewhere_takes_an_answer() {
    let (_folder, places) = places();
    for place in places {
        let may_end = Arc::new(Notify::new());
        let studio = Served::with_flows(&place, asking_while_busy(&may_end)).await;
        let body = json!({"flow": "both", "id": "a"});
        studio.post("/api/runs", &body).await;
        let shown = loop {
            let shown = studio.get("/api/run?id=a").await.json();
            if !shown["run"]["waits"].is_null() {
                break shown;
            }
        };
        assert_eq!(shown["run"]["status"], "open", "it doesn't only wait");
        assert_eq!(shown["is_running"], true, "{shown}");

        let mut body = json!({"id": "a", "event": "rating", "answer": {"stars": 9}});
        let refused = studio.post("/api/run/answers", &body).await;
        assert_eq!(refused.status, 422, "{refused:?}");
        body["answer"]["stars"] = json!(4);
        let delivered = studio.post("/api/run/answers", &body).await;
        assert_eq!(delivered.status, 200, "{delivered:?}");
        assert_eq!(delivered.json()["resumed"], true, "{delivered:?}");
        let again = studio.post("/api/run/answers", &body).await;
        assert_eq!(again.status, 409, "{again:?}");
        let shown = studio.get("/api/run?id=a").await.json();
        assert_eq!(shown["run"]["waits"], json!(null), "{shown}");

        may_end.notify_one();
        let ended = studio.until("a", "ended").await;
        assert_eq!(ended["run"]["answer"], r#"{"stars":4}"#);
    }
}

/// Executes the run in a process, as it were, that is killed once the run waits and is busy.
fn kill_while_busy(place: &Path, may_end: &Arc<Notify>) {
    let (store, flows) = (at(place), asking_while_busy(may_end));
    let process = tokio::runtime::Runtime::new().unwrap();
    process.block_on(async {
        let runner = Runner::new(store.clone(), flows);
        runner.start("both", json!(null), Some("a")).await.unwrap();
        while store.runs().await.unwrap()[0].status.waits().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    });
    process.shutdown_background();
}

#[tokio::test]
async fn a_run_that_was_killed_while_one_branch_waited_and_one_worked_is_resumed() {
    let (_folder, places) = places();
    for place in places {
        let may_end = Arc::new(Notify::new());
        let (killed_at, end) = (place.clone(), Arc::clone(&may_end));
        std::thread::spawn(move || kill_while_busy(&killed_at, &end))
            .join()
            .unwrap();

        let runner = Runner::new(at(&place), asking_while_busy(&may_end));
        while at(&place).is_in_use("a").await.unwrap() {}
        assert_eq!(runner.resume_interrupted().await.unwrap().len(), 1);
        may_end.notify_one();
        let store = at(&place);
        while !matches!(
            store.runs().await.unwrap()[0].status,
            RunStatus::Paused { .. }
        ) {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }

        // Now it only waits, and isn't executed for nothing.
        while store.is_in_use("a").await.unwrap() {}
        assert_eq!(runner.resume_interrupted().await.unwrap().len(), 0);
    }
}

#[tokio::test]
async fn runs_that_are_executed_elsewhere_are_skipped_at_once() {
    let (_folder, places) = places();
    for place in places {
        let store = at(&place);
        let mut journals = Vec::new();
        for run in 0..20 {
            journals.push(
                store
                    .start(&run.to_string(), &asking(), &"x")
                    .await
                    .unwrap(),
            );
        }

        let began = Instant::now();
        let resumed = Runner::new(at(&place), rating()).resume_interrupted().await;
        assert_eq!(resumed.unwrap().len(), 0);
        let took = began.elapsed();
        assert!(took < Duration::from_secs(3), "{took:?}");
    }
}

/// Shuts down a server while a client follows a run that works.
pub(crate) async fn shut_down_while_busy(store: Store) {
    let may_end = Arc::new(Notify::new());
    let runner = Runner::new(store.clone(), asking_while_busy(&may_end));
    runner.start("both", json!(null), Some("a")).await.unwrap();
    let (stop, stopped) = tokio::sync::oneshot::channel();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = api(runner.clone(), |_: &Parts| Some(View::Public));
    let stopping = runner.clone();
    let served = axum::serve(listener, service).with_graceful_shutdown(async move {
        stopped.await.unwrap();
        stopping.shut_down().await;
    });
    let served = tokio::spawn(served.into_future());

    let mut client = TcpStream::connect(address).await.unwrap();
    let request = format!("GET /run/events?id=a HTTP/1.1\r\nHost: {address}\r\n\r\n");
    client.write_all(request.as_bytes()).await.unwrap();
    let mut text = String::new();
    while !text.contains("event: current") {
        text.push(char::from(client.read_u8().await.unwrap()));
    }

    stop.send(()).unwrap();
    let served = tokio::time::timeout(Duration::from_secs(10), served);
    served.await.unwrap().unwrap().unwrap();
    assert!(!store.is_in_use("a").await.unwrap());
    let next = Runner::new(store.clone(), asking_while_busy(&may_end));
    assert_eq!(next.resume_interrupted().await.unwrap().len(), 1);
    next.shut_down().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_shuts_down_ends_streams_and_gives_its_runs_back() {
    let (_folder, places) = places();
    for place in places {
        shut_down_while_busy(at(&place)).await;
    }
}
