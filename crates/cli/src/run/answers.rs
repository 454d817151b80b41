//! Answers to events, from the terminal.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, SystemTime};

use cogwork_flow::{Paused, RunError};
use cogwork_text::Name;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader, Lines, Stdin};
use tokio::time::timeout;

use super::progress::step_name;
use crate::arguments::json_or_text;
use crate::output::tell;

/// The lines that a person types.
pub(super) struct Terminal(Lines<BufReader<Stdin>>);

impl Terminal {
    /// Returns `None` if there is nobody to ask.
    pub(super) fn open() -> Option<Self> {
        let is_terminal = io::stdin().is_terminal() && io::stderr().is_terminal();
        is_terminal.then(|| Self(BufReader::new(tokio::io::stdin()).lines()))
    }

    /// Asks for an event. Returns `None` at the end of the input, and no answer if the wait times out.
    pub(super) async fn ask(&mut self, pause: &Paused) -> Option<Option<Value>> {
        // Lets the progress clear its line first.
        tokio::task::yield_now().await;
        show(pause);

        let answer = match pause.until {
            None => Ok(self.answer().await),
            Some(until) => {
                let left = until.duration_since(SystemTime::now()).unwrap_or_default();
                // The run only counts as timed out after that moment.
                let left = left.saturating_add(Duration::from_millis(2));
                timeout(left, self.answer()).await
            }
        };

        match answer {
            Ok(Some(answer)) => Some(Some(answer)),
            Ok(None) => {
                tell("");
                None
            }
            Err(_) => {
                tell("\ncogwork: the wait timed out");
                Some(None)
            }
        }
    }

    /// Returns what a person types, or `None` at the end of the input.
    async fn answer(&mut self) -> Option<Value> {
        loop {
            let mut err = io::stderr().lock();
            let _ = write!(err, "y/n, JSON or text> ").and_then(|()| err.flush());
            drop(err);

            // Lines that are typed after a timeout are kept for the next question.
            let line = self.0.next_line().await.ok()??;
            match line.trim().to_lowercase().as_str() {
                "" => {}
                "y" | "yes" => return Some(Value::Bool(true)),
                "n" | "no" => return Some(Value::Bool(false)),
                _ => return Some(json_or_text(line.trim())),
            }
        }
    }
}

fn show(pause: &Paused) {
    let event = Name(&pause.event);
    let step = step_name(&pause.step);
    tell(format_args!("{step} waits for `{event}`"));

    let why = pause.why.trim_end();
    if !why.is_empty() {
        tell(why);
    }
}

/// Returns what is wrong with an answer that the journal refuses, so that the run still waits.
pub(super) fn refusal(event: &str, error: &RunError) -> Option<String> {
    // The library doesn't tell these errors from others of the journal.
    let problems = [
        "doesn't match the schema of its wait: ",
        "cannot be used any more: ",
        "can't be used: ",
    ];
    let error = error.to_string();
    let (_, why) = problems.iter().find_map(|text| error.split_once(text))?;

    // All of a short answer is meant, and that no form fits says less than what each expects.
    let why = why.replace("at '': anyOf failed; ", "");
    let why = why.replace("at '': ", "");
    let event = Name(event);
    Some(format!(
        "cogwork: the answer to `{event}` cannot be used: {why}"
    ))
}
