//! Reads saved states: limits the text, and checks its parts.

use std::fmt;

use serde::{Deserialize, Deserializer, de};

use cogwork_typed::ask::Spent;

use crate::record::ReasoningRecord;
use crate::text_error::{TextError, without_places};
use crate::{CutShort, Thought, Trace};

/// The maximum number of bytes of JSON.
const JSON_BYTES: usize = 64 * 1024 * 1024;
/// The maximum number of bytes of YAML, which takes far longer to read than JSON.
const YAML_BYTES: usize = 4 * 1024 * 1024;

/// Reads a state saved as JSON.
pub(crate) fn from_json(text: &str) -> Result<ReasoningRecord, TextError> {
    check_length(text, JSON_BYTES)?;

    serde_json::from_str(text).map_err(|error| {
        let found = TextError::quoting(&without_places(&error.to_string()));
        match error.line() {
            0 => found,
            line => found.at(text, offset(text, line, error.column())),
        }
    })
}

/// Reads a state saved as YAML.
pub(crate) fn from_yaml(text: &str) -> Result<ReasoningRecord, TextError> {
    check_length(text, YAML_BYTES)?;

    serde_yaml::from_str(text).map_err(|error| {
        let found = TextError::quoting(&without_places(&error.to_string()));
        match error.location() {
            None => found,
            Some(place) => found.at(text, place.index()),
        }
    })
}

fn check_length(text: &str, max_bytes: usize) -> Result<(), TextError> {
    if text.len() <= max_bytes {
        return Ok(());
    }

    let message = format!(
        "the saved state is {} bytes long; at most {max_bytes} are read",
        text.len()
    );
    Err(TextError::new(message))
}

/// Returns the offset of a line and a column, both from 1. The column is in bytes and may be in the
/// middle of a character.
fn offset(text: &str, line: usize, column: usize) -> usize {
    let before: usize = text
        .split_inclusive('\n')
        .take(line.saturating_sub(1))
        .map(str::len)
        .sum();

    let at = (before + column.saturating_sub(1)).min(text.len());
    (before..=at)
        .rev()
        .find(|at| text.is_char_boundary(*at))
        .unwrap_or(before)
}

impl<'de> Deserialize<'de> for ReasoningRecord {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let saved = Saved::deserialize(deserializer)?;
        saved.into_record().map_err(de::Error::custom)
    }
}

#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with the keys problem, thoughts, current_thought_number and solution"
)]
struct Saved {
    problem: String,
    #[serde(deserialize_with = "in_order")]
    thoughts: Vec<Thought>,
    current_thought_number: u32,
    #[serde(default, rename = "solution")]
    answer: Option<String>,
    #[serde(default)]
    spent: Option<Spent>,
    #[serde(default)]
    cut_short: Option<CutShort>,
}

impl Saved {
    fn into_record(self) -> Result<ReasoningRecord, String> {
        check_number(self.current_thought_number, self.thoughts.len())?;
        match &self.cut_short {
            Some(cut_short) => check_cut_short(self.answer.as_deref(), &self.thoughts, cut_short)?,
            None => check_answer(self.answer.as_deref(), &self.thoughts)?,
        }

        // The sum may be omitted, for example in a file that was written by hand.
        let spent = self
            .spent
            .unwrap_or_else(|| sum(&self.thoughts, self.cut_short.as_ref()));

        Ok(ReasoningRecord {
            problem: self.problem,
            thoughts: self.thoughts,
            current_thought_number: self.current_thought_number,
            answer: self.answer,
            spent,
            cut_short: self.cut_short,
        })
    }
}

fn sum(thoughts: &[Thought], cut_short: Option<&CutShort>) -> Spent {
    let mut sum = cut_short.map_or(Spent::default(), |cut_short| cut_short.trace().spent);
    for thought in thoughts {
        sum += thought.trace().spent;
    }
    sum
}

/// Checks that `number` is the number of the last of the `made` thoughts, or of the next one.
fn check_number(number: u32, made: usize) -> Result<(), String> {
    if (made..=made + 1).any(|expected| u32::try_from(expected) == Ok(number)) {
        return Ok(());
    }

    let there = match made {
        1 => "is 1 thought".to_owned(),
        _ => format!("are {made} thoughts"),
    };
    let next = made + 1;
    Err(format!(
        "`current_thought_number` is {number}, but there {there}; expected {made} or {next}"
    ))
}

/// Checks that `answer` is the text of the last thought if that thought ends the reasoning, and is
/// missing otherwise.
fn check_answer(answer: Option<&str>, thoughts: &[Thought]) -> Result<(), String> {
    let made = thoughts.len();
    let ended = thoughts.last().filter(|last| !last.next_thought_needed());

    match (answer, ended) {
        (None, None) => Ok(()),
        (Some(answer), Some(last)) if answer == last.current_thinking() => Ok(()),
        (Some(_), Some(_)) => Err(format!(
            "`solution` differs from the `current_thinking` of thought {made}, which ends the reasoning; expected the same text"
        )),
        (Some(_), None) if made == 0 => {
            Err("there is a `solution`, but no thought; expected null".to_owned())
        }
        (Some(_), None) => Err(format!(
            "there is a `solution`, but thought {made}, the last one, does not end the reasoning; expected null, or `next_thought_needed: false` in thought {made}"
        )),
        (None, Some(_)) => Err(format!(
            "thought {made} ends the reasoning, but there is no `solution`; expected the `current_thinking` of thought {made}"
        )),
    }
}

/// Checks that a reasoning that a limit has ended has the text of the last thought as its answer,
/// and that it either has a conclusion or a reason why there is none.
fn check_cut_short(
    answer: Option<&str>,
    thoughts: &[Thought],
    cut_short: &CutShort,
) -> Result<(), String> {
    let made = thoughts.len();
    let Some(last) = thoughts.last() else {
        return Err("there is a `cut_short`, but no thought; expected null".to_owned());
    };

    if answer != Some(last.current_thinking()) {
        return Err(format!(
            "`solution` differs from the `current_thinking` of thought {made}, after which a limit ended the reasoning; expected the same text"
        ));
    }

    match (last.next_thought_needed(), cut_short.problem()) {
        (true, None) => Err(format!(
            "`cut_short` has no `problem`, but thought {made} does not end the reasoning; expected why there is no conclusion"
        )),
        (false, Some(_)) => Err(format!(
            "`cut_short` has a `problem`, but thought {made} ends the reasoning; expected null"
        )),
        (false, None) if !cut_short.trace().is_empty() => Err(format!(
            "`cut_short` has a `trace`, but thought {made} ends the reasoning; expected none"
        )),
        _ => Ok(()),
    }
}

/// Reads thoughts. Each must be one that a turn could have added to the previous ones. The error
/// contains the place of the first one that isn't.
fn in_order<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Thought>, D::Error> {
    struct InOrder;

    impl<'de> de::Visitor<'de> for InOrder {
        type Value = Vec<Thought>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a list of thoughts")
        }

        fn visit_seq<A: de::SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
            let mut thoughts: Vec<Thought> = Vec::new();
            while let Some(thought) = items.next_element::<Thought>()? {
                check_next(&thoughts, &thought).map_err(de::Error::custom)?;
                thoughts.push(thought);
            }

            Ok(thoughts)
        }
    }

    deserializer.deserialize_seq(InOrder)
}

fn check_next(before: &[Thought], thought: &Thought) -> Result<(), String> {
    let expected = before.len() + 1;
    let found = thought.thought_number();
    if u32::try_from(expected) != Ok(found) {
        Err(format!(
            "thought {expected} of the list has the thought_number {found}; expected {expected}"
        ))
    } else if before
        .last()
        .is_some_and(|last| !last.next_thought_needed())
    {
        Err(format!(
            "thought {} ends the reasoning, but thought {expected} follows it; expected `next_thought_needed: false` in the last thought only",
            before.len()
        ))
    } else if thought.current_thinking().trim().is_empty() {
        Err(format!(
            "thought {expected}: `current_thinking` is empty; expected the evaluation and the thinking"
        ))
    } else if thought.planning().is_empty() {
        Err(format!(
            "thought {expected}: `planning` is empty; expected at least one step"
        ))
    } else {
        check_tool_calls(expected, thought.trace())
    }
}

/// Checks that the tool calls of a thought follow its tries, in order.
fn check_tool_calls(thought_number: usize, trace: &Trace) -> Result<(), String> {
    let tries = trace.tries.len();
    let mut least = 1;

    for used in &trace.tool_calls {
        let found = used.after_try;
        let is_a_try = usize::try_from(found).is_ok_and(|number| number <= tries);

        if found < least || !is_a_try {
            let expected = match tries {
                0 => "no calls, because the thought has no tries".to_owned(),
                _ => format!("a number from {least} to {tries}"),
            };
            return Err(format!(
                "thought {thought_number}: a tool call has the `after_try` {found}; expected {expected}"
            ));
        }

        least = found;
    }

    Ok(())
}
