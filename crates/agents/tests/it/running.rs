//! A loaded flow that runs many times at once.

use std::sync::Arc;

use cogwork_agents::FlowState;

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
