//! Flows that the page starts and resumes.

use async_trait::async_trait;
use cogwork_flow::journal::Journal;
use cogwork_journal::Store;
use cogwork_studio::{FlowError, Flows, ForkChoices, ForkRequest, Piece, Pieces};
use serde_json::json;

use super::client::Served;
use super::runs::{asking, at, fail, pause};

/// One flow, whose runs are finished before the answer.
#[derive(Default)]
pub(crate) struct Rating {
    pieces: Pieces,
}

#[async_trait]
impl Flows for Rating {
    fn names(&self) -> Vec<String> {
        vec!["rate".to_owned()]
    }

    async fn start(&self, store: &Store, flow: &str, input: &str) -> Result<String, FlowError> {
        if flow != "rate" {
            return Err(FlowError::Unknown);
        }
        pause(store, "started", input).await;
        Ok("started".to_owned())
    }

    async fn resume(&self, store: &Store, _: &str, run_id: &str) -> Result<(), FlowError> {
        let flow = asking();
        let journal = store.resume(run_id, &flow).await?;
        let mut state: String = journal
            .state()
            .map_err(|error| FlowError::Failed(error.to_string()))?;
        let mut run = flow.begin().with_journal(journal);
        let ended = run.finish(&mut state).await;
        ended
            .map(drop)
            .map_err(|error| FlowError::Failed(error.to_string()))
    }

    async fn fork(
        &self,
        store: &Store,
        _: &str,
        run_id: &str,
        request: &ForkRequest,
    ) -> Result<String, FlowError> {
        let flow = asking();
        let journal = request.start(store, run_id, &flow).await?;
        let fork = journal.run_id().to_owned();
        let mut state: String = journal.state().unwrap();
        // Whether it ends or waits is on record.
        let _ = flow.begin().with_journal(journal).finish(&mut state).await;
        Ok(fork)
    }

    async fn fork_choices(
        &self,
        store: &Store,
        _: &str,
        run_id: &str,
        at: u64,
    ) -> Result<ForkChoices, FlowError> {
        ForkChoices::of(store, run_id, &asking(), at).await
    }

    fn can_fork(&self) -> bool {
        true
    }

    fn pieces(&self, run_id: &str) -> Option<Pieces> {
        (run_id == "a").then(|| self.pieces.clone())
    }
}

#[tokio::test]
async fn a_flow_is_started_and_resumed_after_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), Rating::default()).await;
    assert_eq!(
        studio.get("/api/flows").await.json(),
        json!({"flows": ["rate"]})
    );

    let body = json!({"flow": "rate", "input": "a tale"});
    let started = studio.post("/api/runs", &body).await.json();
    assert_eq!(started["run"], "started");
    let run = studio.get("/api/run?id=started").await.json();
    assert_eq!(run["run"]["status"], "paused");
    assert_eq!(run["can_resume"], true);

    let body =
        json!({"run": "started", "step": "rate/ask#2", "event": "rating", "answer": {"stars": 2}});
    let delivered = studio.post("/api/run/answers", &body).await.json();
    assert_eq!(delivered["resumed"], true, "{delivered}");
    let run = studio.get("/api/run?id=started").await.json();
    assert_eq!(run["run"]["status"], "ended");
}

#[tokio::test]
async fn only_the_flows_that_are_offered_can_be_started() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), Rating::default()).await;
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

    let studio = Served::with_flows(folder.path(), Rating::default()).await;
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
    let studio = Served::with_flows(folder.path(), Rating::default()).await;
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
    pause(&at(folder.path()), "a", "x").await;
    let flows = Rating::default();
    let pieces = flows.pieces.clone();
    let studio = Served::with_flows(folder.path(), flows).await;

    let mut browser = studio.watch("/api/run/events?id=a", "").await;
    browser.until("event: current").await;
    for (text, is_start) in [("One", true), (" two\n</script>", false)] {
        pieces.send(Piece {
            step: "rate/draft#1".to_owned(),
            text: text.to_owned(),
            is_start,
        });
        browser.until(text.trim_end_matches("\n</script>")).await;
    }
    let text = browser.until("</script>").await;
    assert_eq!(text.matches("event: piece").count(), 2);
}
