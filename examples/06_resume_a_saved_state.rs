//! Saves a run that reached its limit, reads it back, and resumes it.
//!
//! ```text
//! stopped: flow `chain of thought`, node `think`: prep failed: thought 4: the limit of 3 thoughts was reached without a conclusion; the thoughts are kept, so the run can continue with a higher limit
//! limit: Some(Thoughts(3))
//! saved: 3 thoughts, plan: 3 of 6 steps done
//! went on to thought 8
//! answer: (3 + 4) * 5 - 6 = 29.
//! ```

use std::error::Error;

use cogwork::cot::{ChainOfThought, CotError, Limits, Reasoning};
use cogwork_examples::RuleBasedClient;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let node = ChainOfThought::new(RuleBasedClient::new());

    // Three thoughts are not enough.
    let mut reasoning = Reasoning::new("What is (3 + 4) * 5 - 6?");
    let short = node
        .clone()
        .with_limits(Limits::default().with_thoughts(3))
        .into_flow();
    let error = short
        .run(&mut reasoning)
        .await
        .err()
        .ok_or("the limit was not reached")?;

    println!("stopped: {error}");
    println!(
        "limit: {:?}",
        error.downcast_ref::<CotError>().and_then(CotError::limit)
    );

    // The state contains all thoughts so far, and is saved as text.
    let saved = serde_json::to_string_pretty(&reasoning)?;
    println!(
        "saved: {} thoughts, plan: {}",
        reasoning.thoughts().len(),
        reasoning.plan().ok_or("no plan")?.progress()
    );

    drop(reasoning);

    // This part could run in a different process on a different day.
    let mut reasoning = Reasoning::from_json(&saved)?;
    node.into_flow().run(&mut reasoning).await?;
    println!("went on to thought {}", reasoning.current_thought_number());
    println!("answer: {}", reasoning.answer().unwrap_or("none"));

    Ok(())
}
