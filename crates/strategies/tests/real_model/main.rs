//! Every strategy against a real model over HTTP. At least 9 of 10 runs must end with an answer, right or
//! wrong. `cogwork eval` measures how often it is right.
//!
//! `scripts/check --real-model` downloads a model, starts a server, and runs this. Any other
//! OpenAI-compatible server can be used as well:
//!
//! ```console
//! $ export OPENAI_BASE_URL=http://127.0.0.1:8080/v1 OPENAI_MODEL=qwen2.5-1.5b
//! $ RUNS=10 cargo test -p cogwork-strategies --test real_model -- --ignored --nocapture
//! ```
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `RUNS` | the number of runs of each strategy | 2 |
//! | `FIRST_SEED` | the seed of the first run; each run has the next one | 1 |
//! | `STRATEGIES` | names of strategies, separated by commas | all |
//! | `SECONDS` | the time of a run, in which it is asked to conclude | 90 |

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

use std::env;
use std::error::Error;
use std::time::Duration;

use cogwork_llm::backend::{Capabilities, Capability};
use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{ChatRequest, ChatResponse, LlmClient, LlmError, OpenAiClient, async_trait};
use cogwork_strategies::methods::{
    Linear, React, Rewoo, Scratchpad, SelfAsk, SelfConsistency, TreeOfThoughts,
};
use cogwork_strategies::{Method, Solver, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use cogwork_typed::ask::Limits;
use serde::Deserialize;

const PROBLEMS: [&str; 4] = [
    "What is half of 30?",
    "What is 17 + 4?",
    "A box holds 6 eggs. How many eggs are in 3 boxes?",
    "Tom has 5 apples and gives 2 away. How many are left?",
];

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn nearly_every_run_ends_with_an_answer() -> Result<(), Box<dyn Error>> {
    let first = number("FIRST_SEED", 1);
    let seeds = first..first + number("RUNS", 2);
    let (mut runs, mut answers) = (0, 0);

    for name in chosen_strategies()? {
        for seed in seeds.clone() {
            let problem = PROBLEMS[seed as usize % PROBLEMS.len()];
            let ended = solver(name, seed)?.solve(problem).await;

            runs += 1;
            answers += usize::from(ended.as_ref().is_ok_and(|solved| solved.answer().is_some()));
            match ended {
                Ok(solved) => {
                    let (answer, end, spent) = (solved.answer(), solved.end(), solved.spent());
                    println!("{name}, seed {seed}: {end:?}: {answer:?}, {spent}");
                }
                Err(error) => println!("{name}, seed {seed}: {error:#}"),
            }
        }
    }

    println!("{answers} of {runs} runs ended with an answer");
    assert!(answers * 10 >= runs * 9);
    Ok(())
}

/// Returns a whole number from the environment.
fn number(variable: &str, default: u64) -> u64 {
    env::var(variable).map_or(default, |text| {
        text.parse().expect("the variable is a whole number")
    })
}

fn chosen_strategies() -> Result<Vec<StrategyName>, Box<dyn Error>> {
    let Ok(names) = env::var("STRATEGIES") else {
        return Ok(StrategyName::ALL.to_vec());
    };

    let names = names.split(',').map(|name| Ok(name.trim().parse()?));
    names.collect()
}

/// Describes tools to the model in the text, because many small servers refuse them.
struct TextTools(OpenAiClient);

#[async_trait]
impl LlmClient for TextTools {
    async fn complete(&self, request: ChatRequest) -> Result<ChatResponse, LlmError> {
        self.0.complete(request).await
    }

    fn capabilities(&self) -> Capabilities {
        let all = self.0.capabilities();
        all.without(Capability::Tools)
            .without(Capability::Streaming)
    }
}

fn solver(name: StrategyName, seed: u64) -> Result<Solver, Box<dyn Error>> {
    let client = Retry::new(TextTools(OpenAiClient::from_env()?), Backoff::default());
    let request = ChatRequest::default()
        .with_max_tokens(700)
        .with_temperature(0.7)
        .with_seed(seed);
    let time = Duration::from_secs(number("SECONDS", 90));
    let limits = Limits::default()
        .with_calls(20)
        .with_time(time)
        .with_hard_time(time * 3 / 2);

    // Small servers answer one request at a time.
    let solver = Solver::new(client, method(name))
        .with_request(request)
        .with_limits(limits)
        .with_calls_at_once(1);
    Ok(match name {
        StrategyName::React | StrategyName::Rewoo => solver.with_tools(tools()?),
        _ => solver,
    })
}

/// Returns the method of a strategy, with settings that bound a run to a few calls.
fn method(name: StrategyName) -> Box<dyn Method> {
    match name {
        StrategyName::Linear => Linear { max_thoughts: 6 }.into(),
        StrategyName::React => React { max_cycles: 3 }.into(),
        StrategyName::Rewoo => Rewoo { max_calls: 4 }.into(),
        StrategyName::Scratchpad => Scratchpad { max_steps: 3 }.into(),
        StrategyName::SelfAsk => SelfAsk { max_questions: 3 }.into(),
        StrategyName::SelfConsistency => Box::new(SelfConsistency {
            paths: 3,
            ..SelfConsistency::default()
        }),
        // The scores of a small model are arbitrary, so no branch is pruned for a low one.
        StrategyName::TreeOfThoughts => Box::new(TreeOfThoughts {
            approaches: 2,
            proposals: 2,
            depth: 2,
            threshold: 0.0,
            ..TreeOfThoughts::default()
        }),
        other => other.into(),
    }
}

#[derive(Deserialize, JsonSchema)]
struct Calculation {
    /// Two numbers with `+`, `-`, `*` or `/` between them.
    expression: String,
}

fn tools() -> Result<Tools, ToolError> {
    let calculate = |Calculation { expression }: Calculation| async move {
        calculated(&expression).ok_or_else(|| {
            ToolError::input(format!(
                "`{expression}` isn't a calculation; expected one such as `6 * 7`"
            ))
        })
    };
    let description = "Calculates with two numbers, as in 6 * 7.";
    Tools::new().with(function("calculate", description, calculate))
}

fn calculated(expression: &str) -> Option<String> {
    // The first character may be the sign of a number.
    let mut signs = expression.char_indices().skip(1);
    let (place, sign) = signs.find(|(_, character)| "+-*/".contains(*character))?;
    let left: f64 = expression[..place].trim().parse().ok()?;
    let right: f64 = expression[place + 1..].trim().parse().ok()?;
    let result = match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    };
    Some(result.to_string())
}
