use cogwork_ask::Spent;
use cogwork_plan::Plan;
use serde::Serialize;

use crate::Thought;

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
}

impl ReasoningRecord {
    pub(crate) fn new(problem: String) -> Self {
        Self {
            problem,
            thoughts: Vec::new(),
            current_thought_number: 0,
            answer: None,
            spent: Spent::default(),
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
}
