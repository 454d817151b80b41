//! Records what happens in a run of the chain of thought, and makes a page of it: one HTML file with every
//! thought, plan, request and reply, which opens from disk.
//!
//! `cargo run --example trace_a_run -- run.html` writes the page to `run.html`, and otherwise it is
//! only made. The backend is that of the quickstart, and it makes the same mistake.
//!
//! ```text
//! 9 thoughts: The distance is 210 km: 60 * 2.5 + 90 * (40 / 60) = 210.
//!
//! The page has no references to other files, and everything that happened is in it.
//! ```

use std::env;
use std::error::Error;
use std::fs;

use cogwork::cot::{ChainOfThought, Reasoning};
use cogwork::trace::{Page, RecorderSettings, RunRecorder};
use cogwork_quickstart::{RuleBasedClient, model};

const PROBLEM: &str =
    "A train goes 60 km/h for 2.5 h, then 90 km/h for 40 min. How far does it go?";

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let recorder = RunRecorder::in_memory(RecorderSettings::default());

    let flow = ChainOfThought::new(model(RuleBasedClient::new())?).into_flow();
    let mut reasoning = Reasoning::new(PROBLEM);
    flow.begin()
        .with_id("quickstart")
        .with_events(&recorder)
        .finish(&mut reasoning)
        .await?;

    let thoughts = reasoning.thoughts().len();
    println!(
        "{thoughts} thoughts: {}",
        reasoning.solution().unwrap_or("no answer")
    );

    let page = Page::from_events(recorder.events())?;
    let mut html = Vec::new();
    page.write(&mut html)?;

    println!("The page has no references to other files, and everything that happened is in it.");

    if let Some(path) = env::args_os().nth(1) {
        fs::write(path, html)?;
    }
    Ok(())
}
