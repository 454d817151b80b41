//! Every strategy against a real model over HTTP. The test counts how many runs reach their final
//! stage with an answer, and doesn't assert that an answer is right.
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
//! | `HARD_SECONDS` | the time after which the conclusion is interrupted | half as much again |
//! | `MAX_TOKENS` | the maximum number of tokens of a reply | 700 |
//! | `FORMAT` | the first form of a reply: `auto`, `schema`, `flat_schema`, `json` or `text` | `auto` |
//! | `VERBOSE` | if set, every thought and every reply is printed | |

#![expect(
    clippy::expect_used,
    reason = "the helpers of tests may, as the tests do"
)]

mod client;
mod strategies;
mod tally;

use std::env;
use std::error::Error;
use std::time::Duration;

use cogwork_llm::layers::{Backoff, Retry};
use cogwork_llm::{ChatRequest, OpenAiClient};
use cogwork_strategies::{Asked, Call, SolveError, Solved, Solver, StrategyName};
use cogwork_typed::ask::{Format, Limits};

use client::TextTools;
use tally::Tally;

const PROBLEMS: [&str; 4] = [
    "What is half of 30?",
    "What is 17 + 4?",
    "A box holds 6 eggs. How many eggs are in 3 boxes?",
    "Tom has 5 apples and gives 2 away. How many are left?",
];

/// The maximum number of calls in a run.
const MAX_CALLS: u32 = 20;

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn every_strategy_ends_and_keeps_what_the_model_wrote() -> Result<(), Box<dyn Error>> {
    let first = number("FIRST_SEED", 1);
    let runs = number("RUNS", 2);
    let mut lines = vec![tally::HEAD.to_owned()];

    for name in chosen_strategies()? {
        let mut tally = Tally::default();
        for seed in first..first + runs {
            let problem = PROBLEMS[seed as usize % PROBLEMS.len()];
            let result = solver(name, seed)?.solve(problem).await;
            if env::var_os("VERBOSE").is_some() {
                show(&result);
            }
            println!("{name}, seed {seed}: {}", tally.add(result)?);
        }
        lines.push(tally.line(name.as_str()));
    }

    println!("\n{}", lines.join("\n"));
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

/// Returns the first form of a reply.
fn format() -> Result<Option<Format>, Box<dyn Error>> {
    match env::var("FORMAT").as_deref() {
        Err(_) | Ok("auto") => Ok(None),
        Ok(format) => Ok(Some(serde_json::from_value(format.into())?)),
    }
}

fn solver(name: StrategyName, seed: u64) -> Result<Solver, Box<dyn Error>> {
    let client = Retry::new(TextTools(OpenAiClient::from_env()?), Backoff::default());
    let tokens = u32::try_from(number("MAX_TOKENS", 700))?;
    let request = ChatRequest::default()
        .with_max_tokens(tokens)
        .with_temperature(0.7)
        .with_seed(seed);

    let seconds = number("SECONDS", 90);
    let hard_seconds = number("HARD_SECONDS", seconds + seconds / 2);
    let budget = Limits::default()
        .with_calls(MAX_CALLS)
        .with_time(Duration::from_secs(seconds))
        .with_hard_time(Duration::from_secs(hard_seconds));

    // Small servers answer one request at a time.
    let solver = Solver::new(client, strategies::method(name))
        .with_request(request)
        .with_format(format()?)
        .with_limits(budget)
        .with_calls_at_once(1);

    Ok(match name {
        StrategyName::React | StrategyName::Rewoo => solver.with_tools(strategies::tools()?),
        _ => solver,
    })
}

fn show(result: &Result<Solved, SolveError>) {
    let trace = match result {
        Ok(solved) => Some(solved.trace()),
        Err(error) => error.so_far(),
    };
    let Some(trace) = trace else { return };

    println!("{trace}");
    for call in trace.calls() {
        match call {
            Call::Model(Asked { stage, log, .. }) => log.tries.iter().for_each(|tried| {
                println!("--- {stage}: {:?}\n{}", tried.complaint, tried.reply);
            }),
            call => println!("{call:?}"),
        }
    }
}
