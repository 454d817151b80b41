//! A loaded flow that runs: many times at once, and again from what is on record.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::sync::{Arc, Mutex};

use cogwork_agents::FlowState;
use cogwork_flow::BoxError;
use cogwork_flow::engine::{Entry, Log, Recorded};
use cogwork_llm::async_trait;

use crate::support::load;

const FLOW: &str = "
nodes:
  - id: writer
    type: agent
    config:
      provider: rules
      rules: [{when: Improve, reply: a better draft}]
      else: a draft
      thinking: {type: reflection, config: {reflection_prompt: Improve it.}}
  - id: inner
    type: subflow
    config:
      prompt: '{input} {writer}'
      nodes: [{id: echo, type: agent, config: {provider: rules, rules: [], else: heard, prompt: '{input}'}}]
      answer: '{input}, {echo}'
  - id: critic
    type: agent
    config: {provider: rules, rules: [], else: \"good\\nACTION: accept\", actions: [accept]}
edges: [{from: writer, to: inner}, {from: inner, to: critic}, {from: critic, action: accept, to: end}]
";

#[tokio::test(flavor = "multi_thread")]
async fn one_flow_serves_many_runs_at_once() {
    let loaded = Arc::new(load(FLOW));
    let runs = (0..32).map(|number| {
        let loaded = Arc::clone(&loaded);
        tokio::spawn(async move {
            let mut state = FlowState::new(format!("run {number}"));
            let ended = loaded.flow().run(&mut state).await.unwrap();
            (number, ended.action, state)
        })
    });

    for run in runs.collect::<Vec<_>>() {
        let (number, action, state) = run.await.unwrap();
        assert_eq!(action.as_str(), "accept");
        let inner = state.output("inner").unwrap().text.as_str();
        assert_eq!(inner, format!("run {number} a better draft, heard"));
    }
}

/// The lines of a record.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<Entry>>>);

#[async_trait]
impl Log for Lines {
    fn push(&self, entry: Entry) -> u64 {
        self.0.lock().unwrap().push(entry);
        0
    }

    fn replace(&self, entries: Vec<Entry>) -> u64 {
        *self.0.lock().unwrap() = entries;
        0
    }

    async fn written(&self, _: u64) -> Result<(), BoxError> {
        Ok(())
    }
}

async fn state_after(flow: &str, recorded: &[Entry], lines: &Lines) -> serde_json::Value {
    let mut state = FlowState::new("run");
    let journal = Recorded::over("run", recorded.to_vec(), lines.clone()).unwrap();
    load(flow)
        .flow()
        .begin()
        .with_journal(journal)
        .finish(&mut state)
        .await
        .unwrap();

    serde_json::to_value(&state).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_flow_goes_on_from_every_line_of_its_record() {
    let lines = Lines::default();
    let whole = state_after(FLOW, &[], &lines).await;
    let recorded = lines.0.lock().unwrap().clone();
    assert!(recorded.len() > 3);

    for kept in 0..=recorded.len() {
        assert_eq!(
            state_after(FLOW, &recorded[..kept], &Lines::default()).await,
            whole,
            "{kept} lines"
        );
    }

    // What is on record is not asked for again: these models would say something else.
    let other = FLOW.replace("draft", "text").replace("heard", "missed");
    assert_eq!(
        state_after(&other, &recorded, &Lines::default()).await,
        whole
    );
}
