use cogwork_plan::Plan;
use cogwork_typed::ask::Spent;
use serde::Serialize;

use crate::{CutShort, Thought};

/// The part of [`Reasoning`](crate::Reasoning) that is saved.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ReasoningRecord {
    pub(crate) problem: String,
    pub(crate) thoughts: Vec<Thought>,
    pub(crate) current_thought_number: u32,
    #[serde(rename = "solution")]
    pub(crate) answer: Option<String>,
    #[serde(skip_serializing_if = "Spent::is_zero")]
    pub(crate) spent: Spent,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) cut_short: Option<CutShort>,
}

impl ReasoningRecord {
    pub(crate) fn new(problem: String) -> Self {
        Self {
            problem,
            thoughts: Vec::new(),
            current_thought_number: 0,
            answer: None,
            spent: Spent::default(),
            cut_short: None,
        }
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

    /// Adds a thought, and sets the answer if the thought ends the reasoning.
    pub(crate) fn push(&mut self, thought: Thought) {
        self.spent += thought.trace().spent;

        if !thought.next_thought_needed() {
            self.answer = Some(thought.current_thinking().to_owned());
        }

        self.thoughts.push(thought);
    }

    /// Ends the reasoning because of a limit. The answer is the text of the last thought.
    pub(crate) fn cut_short(&mut self, cut_short: CutShort) {
        self.spent += cut_short.trace().spent;
        self.answer = self
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

        self.answer = None;
        if let Some(last) = self.thoughts.last_mut() {
            last.reopen();
        }

        true
    }
}
