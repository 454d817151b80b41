use std::fmt;

use cogwork_plan::{MAX_DEPTH, Plan};
use cogwork_text::yaml::YamlGuard;
use cogwork_typed::ask::Spent;
use serde::{Deserialize, Serialize};

use crate::text_error::{check_length, read_yaml};
use crate::{CutShort, TextError, Thought};

/// The maximum number of bytes of JSON.
const JSON_BYTES: usize = 64 * 1024 * 1024;
/// The maximum number of bytes of YAML, which takes far longer to read than JSON.
const YAML_BYTES: usize = 4 * 1024 * 1024;
/// The maximum nesting of YAML, with two levels per level of a plan.
const YAML_NESTING: usize = 2 * MAX_DEPTH + 8;

/// The part of [`Reasoning`](crate::Reasoning) that is saved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a mapping with the keys problem, thoughts, current_thought_number and solution"
)]
pub(crate) struct ReasoningRecord {
    pub(crate) problem: String,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) current_thought_number: u32,
    #[serde(default)]
    pub(crate) solution: Option<String>,
    #[serde(default, skip_serializing_if = "Spent::is_zero")]
    pub(crate) spent: Spent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) cut_short: Option<CutShort>,
}

impl ReasoningRecord {
    pub(crate) fn new(problem: String) -> Self {
        Self {
            problem,
            thoughts: Vec::new(),
            current_thought_number: 0,
            solution: None,
            spent: Spent::default(),
            cut_short: None,
        }
    }

    /// Reads a record saved as JSON.
    pub(crate) fn from_json(text: &str) -> Result<Self, TextError> {
        check_length(text, JSON_BYTES)?;

        let record: Self = serde_json::from_str(text).map_err(TextError::quoting)?;
        record.checked().map_err(TextError::new)
    }

    /// Reads a record saved as YAML.
    pub(crate) fn from_yaml(text: &str) -> Result<Self, TextError> {
        let guard = YamlGuard::new(YAML_NESTING);
        let record: Self = read_yaml(text, YAML_BYTES, guard)?;
        record.checked().map_err(TextError::new)
    }

    /// Refuses a record that no run could have left, and adds up the cost if the sum is missing.
    pub(crate) fn checked(mut self) -> Result<Self, String> {
        self.check()?;

        if self.spent.is_zero() {
            let of_end = self.cut_short.iter().map(CutShort::trace);
            let traces = self.thoughts.iter().map(Thought::trace).chain(of_end);
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
            [made, next].map(u32::try_from).contains(&Ok(number)),
            format_args!("`current_thought_number` is {number}; expected {made} or {next}"),
        )?;

        let last = self.thoughts.last();
        let is_open = last.is_none_or(Thought::next_thought_needed);
        let has_end = !is_open || self.cut_short.is_some();
        let solution = last.filter(|_| has_end).map(Thought::current_thinking);
        let expected = match solution {
            Some(_) => format!("the `current_thinking` of thought {made}"),
            None => "null, because no thought ends the reasoning".to_owned(),
        };
        ensure(
            self.solution.as_deref() == solution,
            format_args!("`solution` is wrong; expected {expected}"),
        )?;

        let fits = self.cut_short.as_ref().is_none_or(|end| {
            let is_like_thought = is_open != end.is_concluded();
            last.is_some() && is_like_thought && (is_open || end.trace().is_empty())
        });
        ensure(
            fits,
            "`cut_short` does not fit the last thought; expected null without a thought, a `problem` \
             if another thought is needed, and neither `problem` nor `trace` otherwise",
        )
    }

    /// Returns the plan of the last thought.
    pub(crate) fn plan(&self) -> Option<&Plan> {
        self.thoughts.last().map(Thought::planning)
    }

    /// Sets the number of the next thought, and returns it.
    ///
    /// The number is derived from the number of thoughts, so a repeated turn does not count twice.
    pub(crate) fn begin_thought(&mut self) -> u32 {
        let made = u32::try_from(self.thoughts.len()).unwrap_or(u32::MAX);
        self.current_thought_number = made.saturating_add(1);
        self.current_thought_number
    }

    /// Adds a thought, and sets the solution if the thought ends the reasoning.
    pub(crate) fn push(&mut self, thought: Thought) {
        self.spent += thought.trace().spent;

        if !thought.next_thought_needed() {
            self.solution = Some(thought.current_thinking().to_owned());
        }

        self.thoughts.push(thought);
    }

    /// Ends the reasoning because of a limit. The solution is the text of the last thought.
    pub(crate) fn end_at_limit(&mut self, cut_short: CutShort) {
        self.spent += cut_short.trace().spent;
        self.solution = self
            .thoughts
            .last()
            .map(|last| last.current_thinking().to_owned());
        self.cut_short = Some(cut_short);
    }

    /// Removes the end because of a limit, if there is one.
    pub(crate) fn reopen(&mut self) -> bool {
        if self.cut_short.take().is_none() {
            return false;
        }

        self.solution = None;
        if let Some(last) = self.thoughts.last_mut() {
            last.reopen();
        }

        true
    }
}

/// Checks that a turn could have added a thought to those before it.
fn check_thought(thought: &Thought, number: usize, is_last: bool) -> Result<(), String> {
    let found = thought.thought_number();
    ensure(
        u32::try_from(number) == Ok(found),
        format_args!("`thought_number` is {found}; expected {number}"),
    )?;
    ensure(
        is_last || thought.next_thought_needed(),
        "`next_thought_needed` is false; expected true, because another thought follows",
    )?;
    ensure(
        !thought.current_thinking().trim().is_empty(),
        "`current_thinking` is empty; expected the evaluation and the thinking",
    )?;
    ensure(
        !thought.planning().is_empty(),
        "`planning` is empty; expected at least one step",
    )
}

fn ensure(holds: bool, problem: impl fmt::Display) -> Result<(), String> {
    if holds {
        return Ok(());
    }
    Err(problem.to_string())
}
