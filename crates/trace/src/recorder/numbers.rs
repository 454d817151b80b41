//! The numbers of messages, lists of tools and calls in a record. They begin anew when a run is resumed.

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
    messages: HashMap<Message, u64>,
    tools: HashMap<Vec<ToolDefinition>, u64>,
    /// By the numbers of the calls in this process.
    calls: HashMap<u64, u64>,
}

impl CallNumbers {
    /// Returns the number of a message, and whether it is new.
    pub(super) fn message(&mut self, message: &Message) -> (u64, bool) {
        number(&mut self.messages, message)
    }

    /// Returns the number of a list of tools, and whether it is new.
    pub(super) fn tools(&mut self, tools: &[ToolDefinition]) -> (u64, bool) {
        number(&mut self.tools, &tools.to_vec())
    }

    pub(super) fn call(&mut self, number_in_process: u64) -> u64 {
        number(&mut self.calls, &number_in_process).0
    }
}

fn number<T: Clone + Eq + Hash>(known: &mut HashMap<T, u64>, value: &T) -> (u64, bool) {
    if let Some(number) = known.get(value) {
        return (*number, false);
    }

    let number = known.len() as u64;
    known.insert(value.clone(), number);
    (number, true)
}
