//! A majority vote: a model gets the same question five times, and the most frequent answer wins.
//!
//! ```text
//! 0.05 euros (3 of 5 votes)
//! ```
//!
//! The strategy `self_consistency` does the same with a budget, and stops
//! as soon as the vote is decided: see the example `vote_over_paths`.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;

use cogwork::prelude::*;
use cogwork_quickstart::model;

// --- core ---

struct Vote {
    question: String,
    answer: String,
    votes: usize,
}

fn vote(client: Arc<dyn LlmClient>) -> Result<Flow<Vote>, BuildError> {
    let ask = from_exec_with(client, async |client, question: String| {
        let request = ChatRequest::new([Message::user(question)]);
        let response = client.complete(request).await?;
        let last = response.text().lines().last().ok_or("an empty reply")?;
        Ok::<_, BoxError>(last.to_owned())
    });
    let split = |vote: &Vote| vec![vote.question.clone(); 5];
    let join = |vote: &mut Vote, answers: Vec<String>| {
        let mut votes = BTreeMap::new();
        for answer in answers {
            *votes.entry(answer).or_insert(0) += 1;
        }
        let winner = votes.into_iter().max_by_key(|(_, votes)| *votes);
        (vote.answer, vote.votes) = winner.ok_or("nobody voted")?;
        Ok(())
    };
    let ask = Batch::at_most(5, ask, split, join);
    let flow = Flow::builder("vote").batch("ask", ask);
    flow.chain(["ask"]).build()
}

// --- end of the core ---

const QUESTION: &str = "A bat and a ball cost 1.10 euros together. The bat costs 1 euro more than the ball. How much \
    does the ball cost? Think about it, then write the amount on the last line.";

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let client = model(ScriptedClient::new([
        "1.10 less 1 is the price of the ball.\n0.10 euros",
        "Twice the ball is 0.10, so it is half of that.\n0.05 euros",
        "If the ball costs x, then 2x + 1 = 1.10.\n0.05 euros",
        "The difference is 1 euro.\n0.10 euros",
        "The bat costs 1.05.\n0.05 euros",
    ]))?;

    let mut state = Vote {
        question: QUESTION.to_owned(),
        answer: String::new(),
        votes: 0,
    };
    vote(client)?.run(&mut state).await?;

    println!("{} ({} of 5 votes)", state.answer, state.votes);
    Ok(())
}
