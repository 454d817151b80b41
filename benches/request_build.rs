//! The next request of a run. The node is the real one; only the model's turns are made once beforehand.

use std::time::Duration;

use cogwork_benches::{BoxError, Canned, nested_plan, ratio, reply, runtime, thinker, timed};
use cogwork_cot::{ChainOfThought, CotError, Prompts, Reasoning, TurnOutcome};
use cogwork_flow::Node;

const PROBLEM: &str =
    "A train goes 60 km/h for 2.5 h, then 80 km/h for 45 minutes. How far is that?";

struct Scene {
    node: ChainOfThought,
    /// The same node with the same texts, but not the same copy of them: it formats every thought again.
    stranger: ChainOfThought,
    outcome: Option<TurnOutcome>,
}

impl Scene {
    fn new() -> Result<Self, BoxError> {
        let node = thinker(Canned::new(reply(nested_plan(10)).to_string()));
        let turn = node.prep(&mut Reasoning::new(PROBLEM))?;
        let outcome = runtime()?.block_on(node.exec(&turn))?;

        Ok(Self {
            stranger: node.clone().with_prompts(Prompts::default()),
            node,
            outcome,
        })
    }

    /// A state of so many thoughts.
    fn state(&self, thoughts: usize) -> Result<Reasoning, CotError> {
        let mut state = Reasoning::new(PROBLEM);
        for _ in 0..thoughts {
            let turn = self.node.prep(&mut state)?;
            self.node.post(&mut state, turn, self.outcome.clone())?;
        }
        Ok(state)
    }

    /// How long twenty requests take that follow this state; the turns between them are not counted.
    fn next(&self, state: &Reasoning) -> Duration {
        let mut state = state.clone();
        let mut request = || {
            let mut turn = None;
            let time = timed(|| turn = self.node.prep(&mut state).ok().flatten());

            // Cannot fail: `state` has done the same.
            let _ = self.node.post(&mut state, turn, self.outcome.clone());
            time
        };

        // The first finds the lists of a copy full, as those of a run seldom are.
        request();
        (0..20).map(|_| request()).sum()
    }

    /// How long a request takes if nothing is kept from the one before.
    fn again(&self, state: &Reasoning) -> Duration {
        let mut state = state.clone();
        timed(|| self.stranger.prep(&mut state))
    }
}

fn main() -> Result<(), BoxError> {
    let scene = Scene::new()?;
    let young = scene.state(10)?;
    let old = scene.state(1_000)?;

    ratio(
        "20 requests at turn 1,000 / at turn 10",
        || scene.next(&old),
        || scene.next(&young),
    );
    ratio(
        "turn 1,000: formatting all thoughts again / the next request",
        || scene.again(&old),
        || scene.next(&old) / 20,
    );
    Ok(())
}
