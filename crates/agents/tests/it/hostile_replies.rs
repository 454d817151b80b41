//! The hostile replies that all readers of replies share.

use cogwork_agents::Agent;
use cogwork_llm::ScriptedClient;

#[path = "../../../typed/tests/replies/mod.rs"]
mod replies;
use crate::support::run;
use replies::{LONG_PROSE, Outcome, hostile_replies};

const USABLE: &str = "\
The rhyme is clean.

ACTION: accept";

async fn outcome(reply: &str) -> Outcome {
    let client = ScriptedClient::new([reply, USABLE]);
    let agent = Agent::new("judge", client.clone()).with_actions(["accept", "revise"]);
    let (ended, _) = run(agent, "A poem.").await;

    match (ended.is_ok(), client.requests().len()) {
        (true, 1) => Outcome::Read,
        (true, _) => Outcome::AskedAgain,
        (false, _) => Outcome::Refused,
    }
}

#[tokio::test]
async fn hostile_replies_are_read_asked_for_again_or_refused() {
    for hostile in hostile_replies(USABLE) {
        // An answer is a text of any length, and only its last line has a form.
        let expected = match hostile.name {
            LONG_PROSE => Outcome::Read,
            _ => hostile.outcome,
        };

        let outcome = outcome(&hostile.reply).await;
        assert_eq!(outcome, expected, "{}", hostile.name);
    }
}
