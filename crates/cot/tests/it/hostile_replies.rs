//! The hostile replies that all readers of replies share.

use cogwork_cot::{ChainOfThought, Reasoning};
use cogwork_llm::ScriptedClient;

#[path = "../../../typed/tests/replies/mod.rs"]
mod replies;
use replies::{Outcome, hostile_replies};

const USABLE: &str = "\
current_thinking: Two and two make four.
planning:
- description: Add
  status: Done
  result: 4
- description: Conclusion
  status: Done
  result: 4
next_thought_needed: false";

async fn outcome(reply: &str) -> Outcome {
    let client = ScriptedClient::new([reply, USABLE]);
    let mut reasoning = Reasoning::new("What is 2 + 2?");
    let flow = ChainOfThought::new(client.clone()).into_flow();
    let ended = flow.run(&mut reasoning).await;

    if ended.is_ok() {
        let answer = reasoning.solution().unwrap_or_default();
        assert_eq!(answer, "Two and two make four.", "{reply:.200}");
    }

    match (ended.is_ok(), client.requests().len()) {
        (true, 1) => Outcome::Read,
        (true, _) => Outcome::AskedAgain,
        (false, _) => Outcome::Refused,
    }
}

#[tokio::test]
async fn hostile_replies_are_read_asked_for_again_or_refused() {
    for hostile in hostile_replies(USABLE) {
        let outcome = outcome(&hostile.reply).await;
        assert_eq!(outcome, hostile.outcome, "{}", hostile.name);
    }
}
