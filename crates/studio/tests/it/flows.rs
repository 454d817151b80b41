//! Flows that the page starts and resumes.

use async_trait::async_trait;
use cogwork_journal::{AnyStore, Store};
use cogwork_studio::{FlowError, Flows};
use serde_json::json;

use super::client::Served;
use super::runs::{asking, at, pause};

/// One flow, whose runs are finished before the answer.
struct Rating;

#[async_trait]
impl Flows for Rating {
    fn names(&self) -> Vec<String> {
        vec!["rate".to_owned()]
    }

    async fn start(&self, store: &AnyStore, flow: &str, input: &str) -> Result<String, FlowError> {
        if flow != "rate" {
            return Err(FlowError::Unknown);
        }
        pause(store, "started", input).await;
        Ok("started".to_owned())
    }

    async fn resume(&self, store: &AnyStore, _: &str, run_id: &str) -> Result<(), FlowError> {
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
}

#[tokio::test]
async fn a_flow_is_started_and_resumed_after_its_answer() {
    let folder = tempfile::tempdir().unwrap();
    let studio = Served::with_flows(folder.path(), Rating).await;
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
    let studio = Served::with_flows(folder.path(), Rating).await;
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

    let studio = Served::with_flows(folder.path(), Rating).await;
    let refused = studio.post("/api/run/resume", &json!({"id": "a"})).await;
    assert_eq!(refused.status, 409);
    let missing = studio.post("/api/run/resume", &json!({"id": "b"})).await;
    assert_eq!(missing.status, 404);
}
