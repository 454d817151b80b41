//! A run on record that is dropped after any of its steps goes on from there: no call is made again, and the
//! result is the same.

use std::sync::Arc;

use cogwork_flow::{MemoryJournal, Stepped};
use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Driver, Search, SelfConsistency, Solver, Solving, TreeOfThoughts};
use serde_json::Value;

/// Drops a run after each number of steps, and also passes its state through JSON.
async fn goes_on<D: Driver + Clone + 'static>(driver: D, replies: &[&str]) {
    let problem = "What is 17 * 3?";
    let whole = {
        let client = ScriptedClient::new(replies.iter().copied());
        serde_json::to_value(Solver::new(client, driver.clone()).solve(problem).await.unwrap()).unwrap()
    };
    let steps = whole.pointer("/trace/session/thoughts").and_then(Value::as_array).unwrap().len() as u64;
    for stop in 0..steps {
        let client = ScriptedClient::new(replies.iter().copied());
        let solver = Solver::new(client.clone(), driver.clone());
        let flow = solver.clone().into_flow().unwrap();
        let journal = Arc::new(MemoryJournal::new("run"));
        let mut dropped = solver.begin(problem);
        let mut run = flow.begin().journal(Arc::clone(&journal));
        for _ in 0..stop {
            if !matches!(run.step(&mut dropped).await.unwrap(), Stepped::Moved { .. }) {
                break;
            }
        }
        drop(run);
        let said = serde_json::to_string(&dropped).unwrap();
        let read: Solving = serde_json::from_str(&said).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), said, "after {stop} steps");

        let mut solving = solver.begin(problem);
        flow.begin().journal(Arc::clone(&journal)).finish(&mut solving).await.unwrap();
        let mut again = serde_json::to_value(solver.solved(solving)).unwrap();
        // Time is measured, and the one thing that may differ.
        again.pointer_mut("/spent/time").unwrap().clone_from(whole.pointer("/spent/time").unwrap());
        assert_eq!(again, whole, "after {stop} steps");
        assert_eq!(
            client.requests().len() as u64,
            whole.pointer("/spent/calls").and_then(Value::as_u64).unwrap()
        );
    }
}

#[tokio::test(start_paused = true)]
async fn self_consistency() {
    goes_on(
        SelfConsistency::new().with_paths(3).with_all_paths(),
        &["answer: 51", "answer: 41", "answer: 51"],
    )
    .await;
}

#[tokio::test(start_paused = true)]
async fn tree_of_thoughts() {
    let replies = [
        r#"approaches: [{"id": "A", "description": "tens", "promise": 8}, {"id": "B", "description": "sums", "promise": 7}]"#,
        "- 30\n- 40",
        "evaluation_score: 1\nsolved: no",
        "evaluation_score: 0\nsolved: no",
        "none",
    ];
    let found = [
        r#"approaches: [{"id": "A", "description": "tens", "promise": 8}, {"id": "B", "description": "sums", "promise": 7}]"#,
        "- 30 + 21\n- 40",
        "- 17 + 17\n- 17",
        "evaluation_score: 7\nsolved: no",
        "evaluation_score: 0\nsolved: no",
        "evaluation_score: 6\nsolved: no",
        "evaluation_score: 0\nsolved: no",
        "- 51\n- 52",
        "none",
        "evaluation_score: 9\nsolved: yes",
        "evaluation_score: 0\nsolved: no",
        "answer: 51",
    ];
    let driver = TreeOfThoughts::new().with_proposals(2);
    goes_on(driver.clone().with_search(Search::DepthFirst), &replies).await;
    goes_on(driver, &found).await;
}
