//! A run that is killed again and again, and continues where it was each time.
//!
//! The program starts itself as a child process that works on the run, and kills it at a random moment, until the run has
//! ended. Calls in progress at a kill are made again; calls with a recorded outcome never are.
//!
//! ```text
//! killed more than once: true
//! different calls: 100
//! only calls in progress were made again: true
//! sum of the answers: 328350
//! ```

use std::collections::HashMap;
use std::env;
use std::error::Error;
use std::fs::{self, OpenOptions};
use std::hash::{BuildHasher, RandomState};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use cogwork::flow::{Action, Batch, BuildError, Flow, from_exec_with, from_fn, idempotency_key};
use cogwork::journal::Store;
use serde::{Deserialize, Serialize};

#[derive(Default, Serialize, Deserialize)]
struct Survey {
    rounds: u64,
    answers: Vec<u64>,
}

const ROUNDS: u64 = 25;
const CALLS_AT_ONCE: usize = 3;

const AGAIN: Action = Action::from_static("again");
const ENOUGH: Action = Action::from_static("enough");

/// A loop around a batch of four calls.
fn survey(calls: PathBuf) -> Result<Flow<Survey>, BuildError> {
    let ask = from_exec_with(calls, call);
    let split = |survey: &Survey| {
        let numbers = (0..4).map(|number| 4 * survey.rounds + number);
        numbers.collect::<Vec<_>>()
    };
    let join = |survey: &mut Survey, answers: Vec<u64>| survey.answers.extend(answers);

    let judge = from_fn(|survey: &mut Survey| {
        survey.rounds += 1;
        if survey.rounds < ROUNDS {
            AGAIN
        } else {
            ENOUGH
        }
    });

    Flow::builder("survey")
        .start("ask")
        .batch("ask", Batch::at_most(CALLS_AT_ONCE, ask, split, join))
        .node("judge", judge.with_actions([AGAIN, ENOUGH]))
        .edge("ask", Action::DEFAULT, "judge")
        .edge("judge", AGAIN, "ask")
        .end("judge", ENOUGH)
        .build()
}

/// The call that would cost money. It is counted before anything else happens.
async fn call(calls: PathBuf, number: u64) -> std::io::Result<u64> {
    let key = idempotency_key().unwrap_or_default();
    let mut file = OpenOptions::new().append(true).create(true).open(calls)?;
    file.write_all(format!("{key}\n").as_bytes())?;

    tokio::time::sleep(Duration::from_millis(5)).await;
    Ok(number * number)
}

/// The whole program that survives a crash. It starts the run, or continues it.
async fn work(folder: &Path) -> Result<Survey, Box<dyn Error>> {
    let flow = survey(folder.join("calls.txt"))?;
    let store = Store::files(folder.join("runs"));
    let journal = store
        .start_or_resume("survey", &flow, &Survey::default())
        .await?;

    let mut survey: Survey = journal.state()?;
    let mut run = flow.begin().with_journal(journal);
    run.finish(&mut survey).await?;
    Ok(survey)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if let Some(folder) = env::args_os().nth(1) {
        work(folder.as_ref()).await?;
        return Ok(());
    }

    let folder = tempfile::tempdir()?;
    let mut kills = 0;
    loop {
        let mut child = Command::new(env::current_exe()?)
            .arg(folder.path())
            .spawn()?;
        // A random number, taken from the seed of a hash map.
        let moment = RandomState::new().hash_one(0) % 100;
        tokio::time::sleep(Duration::from_millis(20 + moment)).await;

        child.kill()?;
        if child.wait()?.success() {
            break;
        }
        kills += 1;
    }
    eprintln!("{kills} kills");

    // The state is read from the journal. No call is made any more.
    let before = fs::read_to_string(folder.path().join("calls.txt"))?;
    let survey = work(folder.path()).await?;
    let calls = fs::read_to_string(folder.path().join("calls.txt"))?;

    let mut times: HashMap<&str, usize> = HashMap::new();
    for key in calls.lines() {
        *times.entry(key).or_default() += 1;
    }
    let again = calls.lines().count() - times.len();

    println!("killed more than once: {}", kills > 1);
    println!("different calls: {}", times.len());
    println!(
        "only calls in progress were made again: {}",
        again <= kills * CALLS_AT_ONCE && before == calls
    );
    println!("sum of the answers: {}", survey.answers.iter().sum::<u64>());
    Ok(())
}
