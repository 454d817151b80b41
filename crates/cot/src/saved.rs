//! Saved states: how they are read, and what a run could have left.

use std::fmt;

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::text_error::check_length;
use crate::{Reasoning, TextError, Thought};

/// The maximum number of bytes of JSON.
const JSON_BYTES: usize = 64 * 1024 * 1024;
/// The maximum number of bytes of YAML, which takes far longer to read than JSON.
const YAML_BYTES: usize = 4 * 1024 * 1024;

/// A state that isn't checked yet.
#[derive(Deserialize)]
#[serde(transparent)]
// The derived reader, without the check: its errors have places in the text, while that of the
// check has none.
struct Unchecked(#[serde(with = "Reasoning")] Reasoning);

impl Reasoning {
    /// Reads a state saved as JSON, of at most 64 MiB.
    ///
    /// # Errors
    ///
    /// Returns a [`TextError`] if the text is longer, is not JSON, or is not a state that a run
    /// could have produced; see [`Reasoning`].
    pub fn from_json(text: &str) -> Result<Self, TextError> {
        check_length(text, JSON_BYTES)?;

        let Unchecked(read) = serde_json::from_str(text).map_err(TextError::quoting)?;
        read.checked().map_err(TextError::new)
    }

    /// Reads a state saved as YAML, of at most 4 MiB.
    ///
    /// # Errors
    ///
    /// Returns a [`TextError`] if the text is longer, is not YAML, or is not a state that a run could
    /// have produced.
    pub fn from_yaml(text: &str) -> Result<Self, TextError> {
        check_length(text, YAML_BYTES)?;

        let Unchecked(read) = serde_yaml::from_str(text).map_err(TextError::quoting)?;
        read.checked().map_err(TextError::new)
    }

    /// Refuses a state that no run could have left, and adds up the cost if the sum is missing.
    fn checked(mut self) -> Result<Self, String> {
        self.check()?;

        // A state that was written by hand has no cost of its own.
        if self.spent.is_zero() {
            let of_end = self.cut_short.iter().map(|end| &end.trace);
            let traces = self
                .thoughts
                .iter()
                .map(|thought| &thought.trace)
                .chain(of_end);
            traces.for_each(|trace| self.spent += trace.spent);
        }

        Ok(self)
    }

    fn check(&self) -> Result<(), String> {
        let made = self.thoughts.len();
        for (number, thought) in (1..).zip(&self.thoughts) {
            let checked = check_thought(thought, number, number == made);
            checked.map_err(|problem| format!("thought {number}: {problem}"))?;
        }

        let number = self.current_thought_number;
        let next = made + 1;
        ensure(
            // `prep` counts up before the thought is there, and a run may stop in between.
            [made, next].map(u32::try_from).contains(&Ok(number)),
            format_args!("`current_thought_number` is {number}; expected {made} or {next}"),
        )?;

        let last = self.thoughts.last();
        let is_open = last.is_none_or(|last| last.next_thought_needed);
        let has_end = !is_open || self.cut_short.is_some();
        let solution = last
            .filter(|_| has_end)
            .map(|last| last.current_thinking.as_str());
        let expected = match solution {
            Some(_) => format!("the `current_thinking` of thought {made}"),
            None => "null, because no thought ends the reasoning".to_owned(),
        };
        ensure(
            self.solution.as_deref() == solution,
            format_args!("`solution` is wrong; expected {expected}"),
        )?;

        let fits = self.cut_short.as_ref().is_none_or(|end| {
            // Without a conclusion, the last thought still asks for another one.
            let is_like_thought = is_open != end.is_concluded();
            last.is_some() && is_like_thought && (is_open || end.trace.is_empty())
        });
        ensure(
            fits,
            "`cut_short` does not fit the last thought; expected null without a thought, a `problem` \
             if another thought is needed, and neither `problem` nor `trace` otherwise",
        )
    }
}

impl Serialize for Reasoning {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The function that is derived.
        Self::serialize(self, serializer)
    }
}

impl<'de> Deserialize<'de> for Reasoning {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let read = Self::deserialize(deserializer)?;
        read.checked().map_err(D::Error::custom)
    }
}

/// Checks that a turn could have added a thought to those before it.
fn check_thought(thought: &Thought, number: usize, is_last: bool) -> Result<(), String> {
    let found = thought.thought_number;
    ensure(
        u32::try_from(number) == Ok(found),
        format_args!("`thought_number` is {found}; expected {number}"),
    )?;
    ensure(
        // Nothing follows the end, so that the state was put together from two.
        is_last || thought.next_thought_needed,
        "`next_thought_needed` is false; expected true, because another thought follows",
    )?;
    ensure(
        !thought.current_thinking.trim().is_empty(),
        "`current_thinking` is empty; expected the evaluation and the thinking",
    )?;
    ensure(
        !thought.planning.is_empty(),
        "`planning` is empty; expected at least one step",
    )
}

fn ensure(holds: bool, problem: impl fmt::Display) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(problem.to_string())
}
