//! Saves a run that reached its limit, reads it back, and resumes it with a higher limit.
//!
//! ```text
//! ended by: Some(Thoughts(3))
//! complete: false
//! saved: 3 thoughts, plan: 3 of 6 steps done
//! went on to thought 8
//! solution: (3 + 4) * 5 - 6 = 29.
//! ```

use std::error::Error;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::typed::ask::Limits;
use cogwork_quickstart::{RuleBasedClient, model};

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    let flow = ChainOfThought::new(model(RuleBasedClient::new())?).into_flow();

    // Three thoughts are not enough. The answer is the best one so far.
    let limits = Limits::default().with_thoughts(3);
    let mut reasoning = Reasoning::new("What is (3 + 4) * 5 - 6?").with_limits(limits);
    flow.run(&mut reasoning).await?;

    let limit = reasoning.cut_short().map(|end| end.limit);
    println!("ended by: {limit:?}");
    println!("complete: {}", reasoning.is_complete());

    // The state contains all thoughts so far, and is saved as text.
    let saved = serde_json::to_string_pretty(&reasoning)?;
    println!(
        "saved: {} thoughts, plan: {}",
        reasoning.thoughts().len(),
        reasoning.plan().ok_or("no plan")?.progress()
    );

    drop(reasoning);

    // This part could run in a different process on a different day.
    let mut reasoning: Reasoning = serde_json::from_str(&saved)?;
    reasoning.reopen();
    flow.run(&mut reasoning).await?;
    println!("went on to thought {}", reasoning.current_thought_number());
    println!("solution: {}", reasoning.solution().unwrap_or("none"));

    Ok(())
}
