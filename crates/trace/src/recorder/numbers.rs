//! The numbers of messages, lists of tools and calls in a record.

use std::collections::HashMap;
use std::hash::Hash;

use cogwork_llm::{Message, ToolDefinition};

/// What was sent in a call, as numbers in the record.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) messages: Vec<u64>,
    pub(super) tools: Option<u64>,
}

/// The numbers that were given so far.
#[derive(Debug, Default)]
pub(super) struct CallNumbers {
    pub(super) messages: Numbers<Message>,
    pub(super) tools: Numbers<Vec<ToolDefinition>>,
    /// By the numbers of the calls in this process.
    pub(super) calls: Numbers<u64>,
}

impl CallNumbers {
    pub(super) fn call(&mut self, number_in_process: u64) -> u64 {
        self.calls.of(&number_in_process, String::new).0
    }
}

/// Numbers that identify values in the record of a run.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    known: HashMap<T, u64>,
    /// The numbers that the record had before, by what was recorded.
    recorded: HashMap<String, u64>,
    next: u64,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            recorded: HashMap::new(),
            next: 0,
        }
    }
}

impl<T: Clone + Eq + Hash> Numbers<T> {
    /// Returns the number of a value, and whether it is new. `recorded` returns what the record has of
    /// it.
    pub(super) fn of(&mut self, value: &T, recorded: impl FnOnce() -> String) -> (u64, bool) {
        if let Some(number) = self.known.get(value) {
            return (*number, false);
        }

        let recorded = self.recorded.get(&recorded()).copied();
        let number = recorded.unwrap_or(self.next);
        self.skip(number);
        self.known.insert(value.clone(), number);
        (number, recorded.is_none())
    }

    /// Adds what was recorded with a number.
    pub(super) fn add(&mut self, recorded: String, number: u64) {
        self.skip(number);
        self.recorded.insert(recorded, number);
    }

    /// Gives no new value this number.
    pub(super) fn skip(&mut self, number: u64) {
        self.next = self.next.max(number.saturating_add(1));
    }
}
