//! The hostile replies that all readers of replies share.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of tests may, as the tests do"
)]

use cogwork_llm::ScriptedClient;
use cogwork_strategies::{Solver, Strategies};

#[path = "../../../typed/tests/replies/mod.rs"]
pub(crate) mod replies;
use replies::{Outcome, hostile_replies};

/// A strategy with one question, for a score and a reason.
pub(crate) const STRATEGY: &str = "\
judge:
  description: Judges.
  stages:
    begin: {description: The problem., prompt: p, next: [judge]}
    judge:
      description: The judgement.
      prompt: p
      final: true
      parameters:
        score: {type: integer, description: how good it is}
        reason: {type: text, description: why}";

const USABLE: &str = "\
thought: It rhymes.
reason: The rhyme is clean.
score: 8";

async fn outcome(reply: &str) -> Outcome {
    let strategies = Strategies::from_yaml(STRATEGY).unwrap();
    let strategy = strategies.get("judge").unwrap().clone();
    let client = ScriptedClient::new([reply, USABLE]);
    let ended = Solver::new(client.clone(), strategy).solve("A poem.").await;

    if let Ok(solved) = &ended {
        let judged = solved.trace().session().thoughts().last().unwrap();
        assert_eq!(judged.parameter("score"), Some(&8.into()), "{reply:.200}");
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
