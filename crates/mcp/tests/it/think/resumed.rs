//! Sessions after a restart, of several processes, and of strategies that have changed.

use cogwork_mcp::ServerBuilder;
use cogwork_strategies::Strategies;
use serde_json::json;

use super::{builder, next_of, refused, session, think};
use crate::support::Client;

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
        strength: {{type: integer, minimum: 1, maximum: 5, description: How strong it is.}}
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
    let builder = builder().with_data(folder.path());
    {
        let client = Client::new(builder.clone()).await;
        let begin = json!({
            "strategy": "react",
            "sessionId": "way",
            "purpose": "The way to the sea",
            "thought": "How far is it?",
        });
        think(&client, begin).await;
        let branch = json!({"branchFrom": 1, "branch": "guess", "thought": "Perhaps 100 km."});
        think(&client, branch).await;
    }

    let client = Client::new(builder).await;
    let line = refused(&client, "think", json!({"thought": "On."})).await;
    assert!(line.contains("the `sessionId` of an earlier one"), "{line}");

    let on = json!({"sessionId": "way", "branch": "main", "stage": "initial_reasoning", "thought": "I must look."});
    think(&client, on).await;
    insta::assert_snapshot!(session(&client, json!({"operation": "show"})).await);
}

#[tokio::test]
async fn two_processes_on_one_session_see_all_thoughts() {
    let folder = tempfile::tempdir().expect("a folder");
    let builder = builder().with_data(folder.path());
    let ours = Client::new(builder.clone()).await;
    let theirs = Client::new(builder).await;
    let begin = json!({"strategy": "linear", "sessionId": "both", "thought": "1"});
    think(&ours, begin).await;

    let plan = json!({"sessionId": "both", "stage": "initial_thought_planning", "thought": "2"});
    think(&theirs, plan).await;
    // What the other process has added decides what is allowed.
    let next = json!({"stage": "thought_generation", "thought": "3"});
    let answer = think(&ours, next).await;
    assert!(
        answer.starts_with("Thought 3 is recorded. Session"),
        "{answer}"
    );
}

fn with_debate(folder: &tempfile::TempDir, next: &str, prompt: &str) -> ServerBuilder {
    let strategies = debate(next, prompt);
    builder()
        .with_data(folder.path())
        .with_strategies(strategies)
}

#[tokio::test]
async fn a_session_of_a_custom_strategy_keeps_its_rules() {
    let folder = tempfile::tempdir().expect("a folder");
    let client = Client::new(with_debate(&folder, "argument", "State the claim.")).await;
    let begin = json!({"strategy": "debate", "sessionId": "cats", "thought": "Cats are best."});
    let begun = think(&client, begin).await;
    assert!(
        begun.contains(r#"needs `strength` ({"maximum":5,"minimum":1,"type":"integer"}): How"#),
        "{begun}"
    );
    drop(client);

    let changed = with_debate(&folder, "argument, judgement", "Claim something.");
    let without = builder().with_data(folder.path());
    for builder in [changed, without] {
        let client = Client::new(builder).await;
        let on = json!({"sessionId": "cats", "thought": "And dogs second."});
        let answer = think(&client, on).await;
        assert_eq!(next_of(&answer), ["argument"]);
    }
}

#[tokio::test]
async fn a_custom_strategy_cannot_take_the_name_of_another() {
    let same = Strategies::built_in();

    let refused = builder().with_strategies(same).open();
    let message = refused.expect_err("an error").to_string();
    assert!(message.contains("linear"), "{message}");
}
