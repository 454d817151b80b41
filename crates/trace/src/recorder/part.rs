//! The numbers of messages and calls. They begin anew when a run is resumed.

use std::collections::HashMap;
use std::hash::Hash;

use cogwork_llm::{Message, ToolDefinition};

/// The numbers that were given so far.
#[derive(Debug, Default)]
pub(super) struct Part {
    pub(super) messages: Numbers<Message>,
    pub(super) tools: Numbers<Vec<ToolDefinition>>,
    /// The numbers of calls in the record, by their numbers in this process.
    calls: Numbers<u64>,
    /// What was sent in calls that haven't ended.
    sent: HashMap<u64, Sent>,
}

/// What was sent in a call, as numbers in the record.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) messages: Vec<u64>,
    pub(super) tools: Option<u64>,
}

/// The numbers of values that are recorded once.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    known: HashMap<T, u64>,
    next: u64,
}

impl<T> Default for Numbers<T> {
    fn default() -> Self {
        Self {
            known: HashMap::new(),
            next: 0,
        }
    }
}

impl<T: Hash + Eq> Numbers<T> {
    pub(super) fn get(&self, value: &T) -> Option<u64> {
        self.known.get(value).copied()
    }

    /// Returns a number that no value has.
    pub(super) fn new_number(&mut self) -> u64 {
        let number = self.next;
        self.next += 1;
        number
    }

    /// Gives a value a number, once it is written.
    pub(super) fn add(&mut self, value: T, number: u64) {
        self.known.insert(value, number);
    }
}

impl Part {
    /// Returns the number of a call in the record.
    pub(super) fn call(&mut self, number: u64) -> u64 {
        self.calls.get(&number).unwrap_or_else(|| {
            let call = self.calls.new_number();
            self.calls.add(number, call);
            call
        })
    }

    /// Keeps what was sent in a call until it ends.
    pub(super) fn send(&mut self, number: u64, sent: Sent) {
        self.sent.insert(number, sent);
    }

    /// Returns what was sent in a call that ends.
    pub(super) fn end(&mut self, number: u64) -> Sent {
        self.sent.remove(&number).unwrap_or_default()
    }
}
