//! The chain of thought against a real model over HTTP. It asserts shape, not wisdom: a small model is
//! wrong more often than not, and what it says must be kept, numbered, bounded and counted all the same.
//!
//! `scripts/check --real-model` gets and starts a server and runs this. With `OPENAI_BASE_URL` and
//! `OPENAI_MODEL` set, `cargo test -p cogwork-cot --test real_model -- --ignored --nocapture` uses that
//! one; it must know `response_format`. `RUNS` says how many runs (default 4 with a schema and
//! 2 without), `FIRST_SEED` where their seeds begin (default 1), `VERBOSE` shows every thought.
#![cfg(all(feature = "http", feature = "console"))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod recorder;

use std::env;
use std::error::Error;
use std::time::Duration;

use cogwork_cot::{ChainOfThought, ConsoleReporter, CotError, Reasoning, Trace};
use cogwork_flow::Backoff;
use cogwork_llm::layers::Retry;
use cogwork_llm::{ChatRequest, ChatResponse, OpenAiClient, Usage};
use cogwork_typed::ask::{Format, Limits, Try};
use tokio::sync::Mutex;

use recorder::Recorder;

const PROBLEMS: [&str; 4] = [
    "What is half of 30?",
    "What is 17 + 4?",
    "A box holds 6 eggs. How many eggs are in 3 boxes?",
    "Tom has 5 apples and gives 2 away. How many are left?",
];

/// Small servers answer one request at a time, and hold one conversation in their cache.
static SERVER: Mutex<()> = Mutex::const_new(());

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn replies_held_to_the_schema_are_read_without_repairs() -> Result<(), Box<dyn Error>> {
    let _server = SERVER.lock().await;
    for seed in seeds(4) {
        run(Format::Schema, seed).await?;
    }
    Ok(())
}

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn free_replies_end_in_a_trace_or_an_error_that_holds_them() -> Result<(), Box<dyn Error>> {
    let _server = SERVER.lock().await;
    for seed in seeds(2) {
        run(Format::Text, seed).await?;
    }
    Ok(())
}

fn seeds(runs: u64) -> std::ops::Range<u64> {
    let first = number("FIRST_SEED", 1);
    first..first + number("RUNS", runs)
}

/// A whole number from the environment.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| {
        text.parse().expect("RUNS and FIRST_SEED are whole numbers")
    })
}

/// Runs the loop once, and holds what it kept against what went over the wire.
async fn run(format: Format, seed: u64) -> Result<(), Box<dyn Error>> {
    let request = ChatRequest::default()
        .with_max_tokens(if format == Format::Schema { 900 } else { 400 })
        .with_temperature(0.7)
        .with_seed(seed);
    let limits = Limits::default()
        .with_thoughts(6)
        .with_time(Duration::from_secs(90));

    let client = Retry::new(OpenAiClient::from_env()?, Backoff::default());
    let (client, calls) = Recorder::new(client);
    let node = ChainOfThought::new(client)
        .with_format(format)
        .with_request(request)
        .with_limits(limits);
    let node = match env::var_os("VERBOSE") {
        Some(_) => node.with_reporter(ConsoleReporter::stdout()),
        None => node,
    };

    let mut reasoning = Reasoning::new(PROBLEMS[seed as usize % PROBLEMS.len()]);
    let result = node.into_flow().run(&mut reasoning).await;
    let calls = calls.lock().unwrap();

    let failed = match &result {
        Ok(_) => None,
        Err(error) => error.downcast_ref::<CotError>(),
    };
    let unfinished = reasoning.cut_short().map(|end| &end.trace);
    let kept = reasoning.thoughts().iter().map(|thought| &thought.trace);
    let traces: Vec<&Trace> = kept
        .chain(unfinished)
        .chain(failed.map(CotError::trace))
        .collect();
    println!("seed {seed}: {} calls, {result:?}", calls.len());

    assert_eq!(
        result.is_err(),
        failed.is_some(),
        "the node fails with its own error"
    );
    assert_eq!(
        reasoning.solution().is_some(),
        result.is_ok(),
        "an answer is the end"
    );
    for trace in &traces {
        assert!(trace.refusals.is_empty(), "the server takes the form");
        let is_early = |complaint: &String| complaint.starts_with("the reply ends the reasoning");
        let mut complaints = trace
            .tries
            .iter()
            .filter_map(|made| made.complaint.as_ref());
        let is_as_asked = trace.repairs.is_empty() && complaints.all(is_early);
        assert!(
            format == Format::Text || is_as_asked,
            "seed {seed}: {trace:?}"
        );
    }

    let tries: Vec<Try> = traces
        .iter()
        .flat_map(|trace| trace.tries.clone())
        .collect();
    let mut usage = Usage::default();
    traces.iter().for_each(|trace| usage += trace.spent.usage);
    assert_kept(&reasoning, &tries, usage, &calls);
    Ok(())
}

/// Every reply is in the trace as the model gave it, every token is counted, and the thoughts are
/// thoughts.
fn assert_kept(reasoning: &Reasoning, tries: &[Try], usage: Usage, calls: &[ChatResponse]) {
    let kept: Vec<&str> = tries.iter().map(|tried| tried.reply.as_str()).collect();
    let given: Vec<&str> = calls.iter().map(|call| call.text()).collect();
    assert_eq!(kept, given, "every reply is kept, in order");

    let mut counted = Usage::default();
    for call in calls {
        counted += call.usage().expect("the server reports usage");
    }

    assert_eq!(usage, counted, "every token is counted");

    for (number, thought) in (1..).zip(reasoning.thoughts()) {
        assert_eq!(thought.thought_number, number);
        assert!(!thought.planning.is_empty() && !thought.current_thinking.trim().is_empty());
        assert_eq!(
            thought.next_thought_needed,
            reasoning.solution().is_none() || number < reasoning.thoughts().len() as u32
        );
    }

    let saved = serde_json::to_string(reasoning).expect("a state can be saved");
    let read: Reasoning = serde_json::from_str(&saved).expect("a saved state can be read");
    assert_eq!(&read, reasoning, "a saved state is the same again");
}
