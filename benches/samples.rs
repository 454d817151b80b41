//! Plans, replies and a client of the sizes that models produce.

use cogwork_cot::{ChainOfThought, Reply};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, Usage, async_trait};
use cogwork_plan::{Plan, Step};
use cogwork_typed::ask::Limits;

/// A client that gives the same reply to every request, at once.
pub struct Canned(ChatResponse);

impl Canned {
    /// One that gives this text, and a usage, as servers do.
    pub fn new(text: impl Into<String>) -> Self {
        Self(ChatResponse::new(text).with_usage(Usage::new(1_000, 300)))
    }
}

#[async_trait]
impl LlmClient for Canned {
    async fn complete(&self, _: ChatRequest) -> Result<ChatResponse, LlmError> {
        Ok(self.0.clone())
    }
}

/// The chain-of-thought node with limits that no bench reaches.
pub fn thinker(client: impl LlmClient + 'static) -> ChainOfThought {
    ChainOfThought::new(client).with_limits(
        Limits::default()
            .with_thoughts(u32::MAX)
            .with_tokens(u64::MAX),
    )
}

/// A reply that goes on: about 600 bytes of thinking, and this plan.
pub fn reply(planning: Plan) -> Reply {
    let current_thinking = "The last thought is right: 60 km/h for 2.5 h is 150 km. \
                            Next I add the second leg, and look whether the sum is plausible.\n"
        .repeat(5);
    Reply {
        current_thinking,
        planning,
        next_thought_needed: true,
    }
}

/// A plan of this many steps: one in ten on the top level, each with nine beneath it.
pub fn nested_plan(steps: usize) -> Plan {
    let parents = (0..steps).step_by(10).map(|first| {
        let children =
            (first + 1..steps.min(first + 10)).map(|number| step(number, first < steps / 2));
        step(first, first < steps / 2).with_sub_steps(children)
    });
    parents.collect()
}

fn step(number: usize, done: bool) -> Step {
    let description = format!("Work out part {number} of the sum and check its unit");
    if done {
        Step::done(description, format!("{number}.5 km"))
    } else {
        Step::pending(description)
    }
}
