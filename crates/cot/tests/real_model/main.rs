//! The chain of thought against a real model over HTTP. It asserts shape, not wisdom: a small model is
//! wrong more often than not, and what it says must be kept, numbered, bounded and counted all the same.
//!
//! `scripts/check --real-model` gets and starts a server and runs this. With `OPENAI_BASE_URL` and
//! `OPENAI_MODEL` set, `cargo test -p cogwork-cot --test real_model -- --ignored --nocapture` uses that
//! one; it must know llama.cpp's field `grammar` and `response_format`. `RUNS` says how many runs (default 4 of each constrained
//! kind and 2 free ones), `FIRST_SEED` where their seeds begin (default 1), `VERBOSE` shows every thought,
//! `SAVE_REPLIES` names a folder to which every raw reply is written.
#![cfg(all(feature = "http", feature = "console"))]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of tests may, as the tests do"
)]

mod recorder;
mod tally;

use std::env;
use std::error::Error;
use std::time::Duration;

use cogwork_cot::{
    Backoff, ChainOfThought, ChatRequest, ConsoleReporter, CotError, Format, Limits, OpenAiClient,
    Reasoning, Retry, Try, Usage,
};
use cogwork_llm::OpenAiClientBuilder;
use tokio::sync::Mutex;

use recorder::{Call, Recorder};
use tally::Tally;

const PROBLEMS: [&str; 4] = [
    "What is half of 30?",
    "What is 17 + 4?",
    "A box holds 6 eggs. How many eggs are in 3 boxes?",
    "Tom has 5 apples and gives 2 away. How many are left?",
];

/// A small model alone seldom keeps to YAML for a whole run. Under this grammar it always does, so
/// that whole traces come about, wrong as they may be.
const GRAMMAR: &str = include_str!("reply.gbnf");

/// Small servers answer one request at a time, and hold one conversation in their cache.
static SERVER: Mutex<()> = Mutex::const_new(());

/// How the model is kept to the form of a reply.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    /// The server lets it write nothing else than YAML of a grammar.
    Constrained,
    /// The server holds it to the JSON Schema that the node asks for by itself.
    Schema,
    /// It is asked for it.
    Free,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Solved,
    Limit,
    Unreadable,
}

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn constrained_replies_make_whole_traces() -> Result<(), Box<dyn Error>> {
    let _server = SERVER.lock().await;
    let mut tally = Tally::default();
    let mut runs = 0;
    let first = number("FIRST_SEED", 1);
    let least = number("RUNS", 4);

    // In a third of the runs this model moves a status, so that a few may well go by without one.
    while runs < least || (tally.moves == 0 && runs < 3 * least) {
        run(Form::Constrained, first + runs, &mut tally).await?;
        runs += 1;
    }

    println!("{tally}");
    assert_eq!(tally.unread(), 0, "a reply of the right form was not read");
    assert!(tally.moves > 0, "no status moved in any run");

    Ok(())
}

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn replies_held_to_the_schema_are_read_without_repairs() -> Result<(), Box<dyn Error>> {
    let _server = SERVER.lock().await;
    let mut tally = Tally::default();
    let first = number("FIRST_SEED", 1);
    for seed in first..first + number("RUNS", 4) {
        run(Form::Schema, seed, &mut tally).await?;
    }

    println!("{tally}");
    assert_eq!(tally.unread(), 0, "a reply of the right form was not read");
    Ok(())
}

#[tokio::test]
#[ignore = "needs a model server; scripts/check --real-model starts one and runs this"]
async fn free_replies_end_in_a_trace_or_an_error_that_holds_them() -> Result<(), Box<dyn Error>> {
    let _server = SERVER.lock().await;
    let mut tally = Tally::default();
    let first = number("FIRST_SEED", 1);
    for seed in first..first + number("RUNS", 2) {
        run(Form::Free, seed, &mut tally).await?;
    }

    println!("{tally}");
    Ok(())
}

/// A whole number from the environment.
fn number(name: &str, default: u64) -> u64 {
    env::var(name).map_or(default, |text| {
        text.parse().expect("RUNS and FIRST_SEED are whole numbers")
    })
}

/// Runs the loop once, and holds what it kept against what went over the wire.
async fn run(form: Form, seed: u64, tally: &mut Tally) -> Result<(), Box<dyn Error>> {
    let problem = PROBLEMS[seed as usize % PROBLEMS.len()];
    let (client, tokens) = match form {
        Form::Constrained => (
            OpenAiClientBuilder::from_env()?
                .with_extra("grammar", GRAMMAR)
                .build()?,
            900,
        ),
        Form::Schema => (OpenAiClient::from_env()?, 900),
        Form::Free => (OpenAiClient::from_env()?, 400),
    };

    let format = if form == Form::Schema {
        Format::Schema
    } else {
        Format::Text
    };

    let (client, calls) = Recorder::new(Retry::new(client, Backoff::default()));
    let node = ChainOfThought::new(client)
        .with_format((form != Form::Schema).then_some(Format::Text))
        .with_request(
            ChatRequest::default()
                .with_max_tokens(tokens)
                .with_temperature(0.7)
                .with_seed(seed),
        )
        .with_limits(
            Limits::default()
                .with_thoughts(6)
                .with_time(Duration::from_secs(90)),
        );

    let node = match env::var_os("VERBOSE") {
        Some(_) => node.with_reporter(ConsoleReporter::stdout()),
        None => node,
    };
    let mut reasoning = Reasoning::new(problem);
    let result = node.into_flow().run(&mut reasoning).await;
    let calls = calls.lock().unwrap();

    let mut tries: Vec<&[Try]> = reasoning
        .thoughts()
        .iter()
        .map(|thought| &thought.trace().tries[..])
        .collect();

    let mut spent = reasoning.spent();
    let (end, complaint) = match &result {
        Ok(_) => (End::Solved, None),
        Err(error) => {
            let error = error
                .downcast_ref::<CotError>()
                .ok_or("the node fails with its own error")?;
            let end = match (error.limit(), error.reply_problem()) {
                (Some(_), _) => End::Limit,
                (None, Some(_)) => End::Unreadable,
                (None, None) => return Err(error.to_string().into()),
            };

            tries.push(error.tries());
            spent += error.spent();
            (end, Some(error.to_string()))
        }
    };

    for trace in reasoning.thoughts().iter().map(|thought| thought.trace()) {
        assert_eq!(
            (trace.format, &trace.refusals[..]),
            (format, &[][..]),
            "seed {seed}: the server takes the form"
        );
        assert!(
            form == Form::Free || trace.repairs.is_empty(),
            "seed {seed}: {:?}",
            trace.repairs
        );
    }

    assert_kept(&reasoning, &tries.concat(), spent.usage, &calls);
    assert_eq!(
        reasoning.solution().is_some(),
        end == End::Solved,
        "seed {seed}: an answer is the end"
    );

    tally.add(end, &reasoning, &tries, &calls);
    let thoughts = reasoning.thoughts().len();
    let seconds = spent.time.as_secs_f64();
    let complaint = complaint
        .map(|text| format!(": {text}"))
        .unwrap_or_default();
    println!(
        "seed {seed}: {end:?} with {thoughts} thoughts in {} calls, {seconds:.1} s{complaint}",
        calls.len()
    );

    Ok(())
}

/// Every reply is in the trace as the model gave it, every token is counted, and the thoughts are
/// thoughts.
fn assert_kept(reasoning: &Reasoning, tries: &[Try], usage: Usage, calls: &[Call]) {
    let kept: Vec<&str> = tries.iter().map(|tried| tried.reply.as_str()).collect();
    let given: Vec<&str> = calls.iter().map(|call| call.response.text()).collect();
    assert_eq!(kept, given, "every reply is kept, in order");

    let mut counted = Usage::default();
    for call in calls {
        counted += call.response.usage().expect("the server reports usage");
    }

    assert_eq!(usage, counted, "every token is counted");

    for (number, thought) in (1..).zip(reasoning.thoughts()) {
        assert_eq!(thought.thought_number(), number);
        assert!(!thought.planning().is_empty() && !thought.current_thinking().trim().is_empty());
        assert_eq!(
            thought.next_thought_needed(),
            reasoning.solution().is_none() || number < reasoning.thoughts().len() as u32
        );
    }

    let saved = serde_json::to_string(reasoning).expect("a state can be saved");
    let read: Reasoning = serde_json::from_str(&saved).expect("a saved state can be read");
    assert_eq!(&read, reasoning, "a saved state is the same again");
}
