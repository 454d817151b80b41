//! Sessions after a restart, of several clients, and of strategies that have changed.

use cogwork_mcp::{Server, ServerBuilder};
use cogwork_strategies::Strategies;
use serde_json::json;

use super::{refused, session, session_text, think};
use crate::support::{client_of, connect};

fn debate(next: &str, prompt: &str) -> Strategies {
    let table = format!(
        "
debate:
  description: Two sides, and a judgement.
  stages:
    claim:
      description: The claim that is argued.
      prompt: {prompt}
      next: [{next}]
    argument:
      description: An argument.
      prompt: Argue.
      parameters:
        strength: {{type: integer, min: 1, max: 5, description: How strong it is.}}
      next: [argument, judgement]
    judgement:
      description: Who has argued better.
      prompt: Judge.
      final: true
"
    );
    Strategies::from_yaml(&table).expect("a table")
}

#[tokio::test]
async fn a_session_survives_a_restart() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().with_data(folder.path());
    {
        let client = connect(builder.clone()).await;
        let begin = json!({
            "strategy": "react",
            "sessionId": "way",
            "purpose": "The way to the sea",
            "thought": "How far is it?",
        });
        think(&client, begin).await;
        let next = json!({"stage": "initial_reasoning", "thought": "I must look."});
        think(&client, next).await;
        session(
            &client,
            json!({"operation": "fork", "from": 1, "branch": "guess"}),
        )
        .await;
        session(&client, json!({"operation": "switch", "branch": "main"})).await;
    }

    let client = connect(builder).await;
    let (line, kind) = refused(&client, "think", json!({"thought": "On."})).await;
    assert_eq!(kind, "no_session");
    assert!(line.contains("the `sessionId` of an earlier one"), "{line}");

    let resume = json!({"operation": "resume", "sessionId": "way"});
    let resumed = session_text(&client, resume).await;
    insta::assert_snapshot!(resumed);

    let plan = json!({
        "stage": "action_planning",
        "thought": "I search.",
        "parameters": {"action": "search"},
    });
    let answer = think(&client, plan).await;
    assert_eq!(answer["session"], "way");
    assert_eq!(answer["thought"], 3);
}

#[tokio::test]
async fn two_clients_share_a_session_but_not_their_current_one() {
    let server = Server::builder().open().expect("a server");
    let ours = client_of(&server).await;
    let theirs = client_of(&server).await;
    think(
        &ours,
        json!({"strategy": "linear", "sessionId": "both", "thought": "1"}),
    )
    .await;

    let (_, kind) = refused(&theirs, "think", json!({"thought": "2"})).await;
    assert_eq!(kind, "no_session");

    think(&theirs, json!({"sessionId": "both", "thought": "2"})).await;
    let answer = think(&ours, json!({"thought": "3"})).await;
    assert_eq!(answer["thought"], 3);

    let exists = json!({"operation": "new", "strategy": "react", "sessionId": "both"});
    let (line, kind) = refused(&theirs, "think_session", exists).await;
    assert_eq!(kind, "session_exists");
    assert_eq!(line, "the session already exists; choose another id");
}

#[tokio::test]
async fn two_processes_on_one_session_see_all_thoughts() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = Server::builder().with_data(folder.path());
    let ours = connect(builder.clone()).await;
    let theirs = connect(builder).await;
    think(
        &ours,
        json!({"strategy": "linear", "sessionId": "both", "thought": "1"}),
    )
    .await;
    think(&theirs, json!({"sessionId": "both", "thought": "2"})).await;

    let answer = think(&ours, json!({"thought": "3"})).await;
    assert_eq!(answer["thought"], 3);
    let plan = json!({"stage": "initial_thought_planning", "thought": "4"});
    think(&theirs, plan).await;

    // What the other process has added decides what is allowed.
    let next = json!({"stage": "thought_generation", "thought": "5"});
    let answer = think(&ours, next).await;
    assert_eq!(answer["thought"], 5);
}

fn with_debate(folder: &tempfile::TempDir, next: &str, prompt: &str) -> ServerBuilder {
    let strategies = debate(next, prompt);
    Server::builder()
        .with_data(folder.path())
        .with_strategies(strategies)
}

#[tokio::test]
async fn a_session_of_a_custom_strategy_keeps_its_rules() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = connect(with_debate(&folder, "argument", "State the claim.")).await;
    let begin = json!({"strategy": "debate", "sessionId": "cats", "thought": "Cats are best."});
    let begun = think(&client, begin).await;
    assert_eq!(begun["next"][0]["needs"], json!(["strength"]));
    drop(client);

    let changed = with_debate(&folder, "argument, judgement", "Claim something.");
    let without = Server::builder().with_data(folder.path());
    for builder in [changed, without] {
        let client = connect(builder).await;
        let on = json!({"sessionId": "cats", "thought": "And dogs second."});
        let answer = think(&client, on).await;
        assert_eq!(answer["next"].as_array().map(Vec::len), Some(1));
        assert_eq!(answer["next"][0]["stage"], "argument");
    }
}

#[tokio::test]
async fn a_custom_strategy_cannot_take_the_name_of_another() {
    let table = serde_json::to_string(&Strategies::built_in()).expect("JSON");
    let same = Strategies::from_json(&table).expect("tables");

    let refused = Server::builder().with_strategies(same).open();
    let message = refused.expect_err("an error").to_string();
    assert!(message.contains("linear"), "{message}");
}
