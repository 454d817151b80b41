//! A thought that grows as the model writes it: a reporter receives its text without the rest of the reply.
//!
//! ```text
//!
//! thought 1: The pr|oblem| asks f|or 6 *| 7. My| plan:| work| it out| step| by ste|p, che|ck the| resul|t, con|clude.|
//! I a|m a ru|le-bas|ed sta|nd-in| and no| langu|age mo|del. I| make| one mi|stake| on pur|pose,| for a| later| though|t to f|ind an|d repa|ir.|
//! To ask| a rea|l mode|l, set| OPENA|I_BASE|_URL a|nd OPE|NAI_MO|DEL (a|nd OPE|NAI_AP|I_KEY| where| needed|).|
//! |
//!
//! thought 2: Evalua|tion o|f thou|ght 1:| the p|roblem| is un|dersto|od.|
//! Step 2|.1: Mu|ltiply| 6 by| 7. 6 *| 7 = 3|2.|
//! |
//!
//! thought 3: Evalua|tion o|f thou|ght 2:| there| is a| mistak|e. Ste|p 2.1:| 6 * 7| is 42|, not| 32, a| carry| was dr|opped.|
//! I m|ark it| and d|o it a|gain i|n the| next t|hought|.|
//! |
//!
//! thought 4: Evalua|tion o|f thou|ght 3:| it wa|s righ|t to m|ark th|e mist|ake.|
//! Step| 2.1, o|nce mo|re: Mu|ltiply| 6 by| 7. 6 *| 7 = 4|2.|
//! |
//!
//! thought 5: Evalua|tion o|f thou|ght 4:| 6 * 7| = 42| is cor|rect.|
//! Step| 3: Ch|eck th|e resu|lt. Wo|rked o|ut aga|in in| one go|, with| round|ed dec|imals,| it co|mes to| 42 as| well.|
//! |
//!
//! thought 6: 6 * 7| = 42.|
//! |
//!
//! answer: 42
//! ```

use std::error::Error;
use std::time::Duration;

use cogwork::cot::{ChainOfThought, Reasoning, ReasoningEvent, Reporter};
use cogwork_quickstart::{RuleBasedClient, model};

/// Prints the text of each thought as it grows.
struct Typewriter;

impl Reporter for Typewriter {
    fn event(&self, event: &ReasoningEvent) {
        match event {
            ReasoningEvent::Thinking {
                thought,
                text,
                is_start,
            } => {
                // A start replaces all earlier text of the thought.
                if *is_start {
                    print!("\nthought {thought}: ");
                }
                print!("{text}|");
            }
            ReasoningEvent::Thought { .. } => println!(),
            _ => {}
        }
    }
}

#[tokio::main(flavor = "current_thread")]
pub async fn main() -> Result<(), Box<dyn Error>> {
    // The backend streams if it takes its time.
    let client = model(RuleBasedClient::new().with_delay(Duration::from_millis(50)))?;
    let flow = ChainOfThought::new(client)
        .with_reporter(Typewriter)
        .into_flow();

    let mut reasoning = Reasoning::new("What is 6 * 7?");
    flow.run(&mut reasoning).await?;
    println!("\nanswer: {}", reasoning.answer().unwrap_or("none"));
    Ok(())
}
