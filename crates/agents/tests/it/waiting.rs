//! Nodes of the type `wait`: pauses for an answer.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_agents::{FlowState, Loader};
use cogwork_flow::{Paused, Run};
use serde_json::{Value, json};

use crate::support::{load, problems};

const FLOW: &str = "
nodes:
  - id: writer
    type: agent
    config: {provider: rules, rules: [{when: again, reply: A better draft.}], else: A draft., prompt: '{input} {review}'}
  - id: review
    type: wait
    config: {reason: 'Publish this? {writer}', timeout: 60, actions: [yes, no]}
edges:
  - {from: writer, to: review}
  - {from: review, action: yes, to: end}
  - {from: review, action: no, to: writer}
  - {from: review, action: timed out, to: end}
";

async fn paused(run: &mut Run<'_, FlowState>, state: &mut FlowState) -> Paused {
    run.finish(state).await.unwrap_err().into_paused().unwrap()
}

/// A conversation may go on until nobody answers any more.
#[tokio::test]
async fn a_loop_with_a_wait_needs_no_end() {
    let loaded = load(
        "
nodes:
  - {id: question, type: wait}
  - {id: answer, type: agent, config: {provider: rules, rules: [], else: Indeed.}}
edges:
  - {from: question, to: answer}
  - {from: answer, to: question}
",
    );
    let mut state = FlowState::new("");
    let mut run = loaded.flow().begin();

    for question in ["Is it?", "Really?"] {
        paused(&mut run, &mut state).await;
        run.deliver("question", &question).await.unwrap();
    }

    paused(&mut run, &mut state).await;
    assert_eq!(state.visits().len(), 4);
}

#[tokio::test]
async fn a_wait_pauses_until_the_answer_chooses_an_action() {
    let loaded = load(FLOW);
    let mut state = FlowState::new("A tale");
    let mut run = loaded.flow().begin();

    let pause = paused(&mut run, &mut state).await;
    assert_eq!(
        (pause.event.as_str(), pause.why.as_str()),
        ("review", "Publish this? A draft.")
    );
    assert!(pause.until.is_some());

    let schema: Value = pause.schema.unwrap().read().unwrap();
    let form = &schema["anyOf"][0];
    assert_eq!(form["properties"]["action"]["enum"], json!(["yes", "no"]));
    // Any other answer is read as well, so that a wrong one is asked for again with the reason.
    assert_eq!(schema["anyOf"][1], json!({}));

    let answer = json!({"action": "No", "text": "Write it again."});
    run.deliver("review", &answer).await.unwrap();
    let pause = paused(&mut run, &mut state).await;
    assert_eq!(pause.why, "Publish this? A better draft.");
    assert_eq!(state.output("review").unwrap().text, "Write it again.");

    run.deliver("review", &true).await.unwrap();
    let ended = run.finish(&mut state).await.unwrap();
    assert_eq!(
        (ended.action.as_str(), state.last().text.as_str()),
        ("yes", "yes")
    );
    let nodes: Vec<_> = state.visits().map(|visit| visit.node.as_str()).collect();
    assert_eq!(nodes, ["writer", "review", "writer", "review"]);
}

#[tokio::test]
async fn an_answer_that_names_no_action_is_asked_for_again() {
    let loaded = load(FLOW);
    let mut state = FlowState::new("A tale");
    let mut run = loaded.flow().begin();
    paused(&mut run, &mut state).await;

    let long = "x".repeat(2 << 20);
    for (answer, problem) in [
        (
            json!("perhaps"),
            "`perhaps` names no action; expected `yes` or `no`",
        ),
        (json!(7), "`7` names no action; expected `yes` or `no`"),
        (
            json!([7]),
            "the answer names no action; expected `yes` or `no`",
        ),
        (
            json!({"action": "maybe"}),
            "`maybe` names no action; expected `yes` or `no`",
        ),
        (
            json!({"text": "no"}),
            "the answer names no action; expected `yes` or `no`",
        ),
        (
            json!(long),
            "the answer has more than 1048576 bytes; expected fewer",
        ),
    ] {
        run.deliver("review", &answer).await.unwrap();
        let pause = paused(&mut run, &mut state).await;
        assert_eq!(pause.why, format!("{problem}\nPublish this? A draft."));
    }

    run.deliver("review", &" YES ").await.unwrap();
    assert!(run.finish(&mut state).await.is_ok());
}

#[tokio::test]
async fn actions_that_look_like_json_are_named_as_they_are_written() {
    let flow = "nodes: [{id: ask, type: wait, config: {actions: ['1', 'true', 'no']}}]";
    let loaded = load(&format!(
        "{flow}\nedges: [{{from: ask, action: '1', to: end}}, {{from: ask, action: 'true', to: end}}, {{from: ask, action: 'no', to: end}}]"
    ));

    for (answer, text) in [(json!(1), "1"), (json!(true), "true"), (json!(false), "no")] {
        let mut state = FlowState::new("?");
        let mut run = loaded.flow().begin();
        run.deliver("ask", &answer).await.unwrap();
        run.finish(&mut state).await.unwrap();
        assert_eq!(state.last().text, text);
    }
}

#[tokio::test]
async fn without_actions_any_answer_is_the_output() {
    let flow = "nodes: [{id: ask, type: wait, config: {event: question}}]";
    let loaded = load(flow);
    let answers: [(Value, &str); 3] = [
        (json!("As it is."), "As it is."),
        (json!({"a": [1]}), r#"{"a":[1]}"#),
        (json!(null), "null"),
    ];

    for (answer, text) in answers {
        let mut state = FlowState::new("?");
        let mut run = loaded.flow().begin();
        run.deliver("question", &answer).await.unwrap();
        let ended = run.finish(&mut state).await.unwrap();
        assert_eq!(
            (ended.action.as_str(), state.last().text.as_str()),
            ("default", text)
        );
    }
}

#[test]
fn the_problems_of_a_wait_are_reported_with_their_places() {
    let flow = "nodes:
- {id: a, type: wait, config: {reason: '{nobody}', actions: [go, go, timed out]}}
- {id: b, type: wait, config: {timeout: 0, event: '${EVENT}', prompt: x}}
edges: [{from: a, action: go, to: b}]
";
    let loader = Loader::new().with_environment(|_| Some("secret".to_owned()));
    insta::assert_snapshot!(problems(&loader, flow), @"
    flow.yaml:2:40: nodes[0].config.reason: unknown slot `{nobody}`; known slots: `{input}`, `{last}`, `{a}`, `{b}`, and `{{` for a brace
    flow.yaml:2:66: nodes[0].config.actions[1]: the action `go` is listed twice; expected each once
    flow.yaml:2:70: nodes[0].config.actions[2]: `timed out` is reserved; choose another action
    flow.yaml:3:41: nodes[1].config.timeout: the number is too small; expected at least 0.001
    flow.yaml:3:51: nodes[1].config.event: nothing is taken from the environment here, where it would be shown; expected a text without `${EVENT}`
    flow.yaml:3:63: nodes[1].config: unknown key `prompt`; known keys: `actions`, `event`, `key`, `reason`, `timeout`
    ");

    let unwired = FLOW.replace("  - {from: review, action: timed out, to: end}\n", "");
    insta::assert_snapshot!(problems(&Loader::new(), &unwired), @"flow.yaml:6:9: nodes[1]: node `review` declares the action `timed out`, which leads nowhere; add an edge or an end for it");
}

#[tokio::test(start_paused = true)]
async fn a_refusal_is_forgotten_after_a_timeout() {
    let flow = FLOW.replace(
        "action: timed out, to: end",
        "action: timed out, to: writer",
    );
    let loaded = load(&flow);
    let mut state = FlowState::new("A tale");
    let mut run = loaded.flow().begin();

    paused(&mut run, &mut state).await;
    run.deliver("review", &"perhaps").await.unwrap();
    let pause = paused(&mut run, &mut state).await;
    assert!(pause.why.starts_with("`perhaps` names no action"));

    tokio::time::sleep(std::time::Duration::from_secs(61)).await;
    let pause = paused(&mut run, &mut state).await;
    assert_eq!(pause.why, "Publish this? A draft.");
}
