//! Nodes of the type `wait`: pauses for an answer.

use cogwork_agents::FlowState;
use cogwork_flow::{Paused, Run};
use cogwork_journal::{Store, StoreErrorKind};
use serde_json::{Value, json};

use crate::support::load;

const FLOW: &str = include_str!("../files/good/waiting.yaml");

async fn paused(run: &mut Run<'_, FlowState>, state: &mut FlowState) -> Paused {
    run.finish(state).await.unwrap_err().into_paused().unwrap()
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
    let short = json!({"enum": ["yes", true, "no", false]});
    assert_eq!(schema["anyOf"][1], short);

    let answer = json!({"action": "no", "text": "Write it again."});
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
async fn an_answer_that_names_no_action_is_refused() {
    let loaded = load(FLOW);
    let mut state = FlowState::new("A tale");
    let mut run = loaded.flow().begin();
    paused(&mut run, &mut state).await;

    let long = "x".repeat(2 << 20);
    let none = "the answer names no action; expected `yes` or `no`";
    let named = |name: &str| format!("`{name}` names no action; expected `yes` or `no`");
    let too_long = "the answer has more than 1048576 bytes; expected fewer";
    for (answer, problem) in [
        (json!("perhaps"), named("perhaps")),
        (json!("Yes"), named("Yes")),
        (json!({"action": true}), none.to_owned()),
        (json!(7), none.to_owned()),
        (json!(long), too_long.to_owned()),
    ] {
        let refused = run.deliver("review", &answer).await.unwrap_err();
        assert!(refused.to_string().ends_with(&problem), "{refused}");
        let pause = paused(&mut run, &mut state).await;
        assert_eq!(pause.why, "Publish this? A draft.");
    }

    run.deliver("review", &"yes").await.unwrap();
    assert!(run.finish(&mut state).await.is_ok());
}

#[tokio::test]
async fn a_store_refuses_an_answer_that_names_no_action() {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::files(folder.path());
    let loaded = load(FLOW);
    let mut state = FlowState::new("A tale");
    let journal = store.start("a", loaded.flow(), &state).await.unwrap();
    let mut run = loaded.flow().begin().with_journal(journal);
    paused(&mut run, &mut state).await;
    drop(run);

    for wrong in [json!("perhaps"), json!({"action": "perhaps"}), json!(7)] {
        let refused = store.deliver("a", "review", &wrong).await.unwrap_err();
        assert_eq!(refused.kind(), StoreErrorKind::RefusedAnswer);
        assert!(refused.to_string().contains("'yes'"), "{refused}");
    }
    store.deliver("a", "review", &true).await.unwrap();

    let journal = store.resume("a", loaded.flow()).await.unwrap();
    let mut state = journal.state().unwrap();
    let mut run = loaded.flow().begin().with_journal(journal);
    assert_eq!(run.finish(&mut state).await.unwrap().action.as_str(), "yes");
}

#[tokio::test]
async fn any_json_is_an_answer_and_an_action_as_it_is_written() {
    let ask = |config: &str| format!("nodes: [{{id: ask, type: wait, config: {config}}}]\n");
    let edges =
        ["1", "true", "no"].map(|action| format!("{{from: ask, action: '{action}', to: end}}"));
    let free = ask("{}");
    let chosen = ask("{actions: ['1', 'true', 'no']}") + &format!("edges: [{}]", edges.join(", "));
    for (flow, answer, action, text) in [
        (&chosen, json!(1), "1", "1"),
        (&chosen, json!(true), "true", "true"),
        (&chosen, json!(false), "no", "no"),
        (&free, json!("As it is."), "default", "As it is."),
        (&free, json!({"a": [1]}), "default", r#"{"a":[1]}"#),
        (&free, json!(null), "default", "null"),
    ] {
        let loaded = load(flow);
        let mut state = FlowState::new("?");
        let mut run = loaded.flow().begin();
        run.deliver("ask", &answer).await.unwrap();
        let ended = run.finish(&mut state).await.unwrap();
        assert_eq!(
            (ended.action.as_str(), state.last().text.as_str()),
            (action, text)
        );
    }
}
