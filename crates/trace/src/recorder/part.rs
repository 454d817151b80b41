//! The numbers of messages and calls. They begin anew when a run is resumed.

use std::collections::HashMap;

use cogwork_llm::{Message, ToolDefinition};

/// The numbers that were given so far.
#[derive(Debug, Default)]
pub(super) struct Part {
    /// The messages and their numbers.
    messages: HashMap<Message, u64>,
    next_message: u64,
    /// The lists of tools and their numbers. Programs have few.
    tools: Vec<(u64, Vec<ToolDefinition>)>,
    next_tools: u64,
    /// The numbers of calls in the record, by their numbers in this process.
    calls: HashMap<u64, u64>,
    next_call: u64,
    /// What was sent in calls that haven't ended.
    sent: HashMap<u64, Sent>,
}

/// The maximum number of lists of tools that are compared with the next one.
const MOST_LISTS: usize = 64;

/// What was sent in a call, as numbers in the record.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) messages: Vec<u64>,
    pub(super) tools: Option<u64>,
}

impl Part {
    /// Returns the number of a message.
    pub(super) fn message(&self, message: &Message) -> Option<u64> {
        self.messages.get(message).copied()
    }

    /// Gives a message a number.
    pub(super) fn add_message(&mut self, message: Message) -> u64 {
        let id = self.next_message;
        self.next_message += 1;
        self.messages.insert(message, id);
        id
    }

    /// Forgets a message that could not be written, so that it is written the next time.
    pub(super) fn forget(&mut self, message: &Message) {
        self.messages.remove(message);
    }

    /// Returns the number of a call in the record.
    pub(super) fn call(&mut self, number: u64) -> u64 {
        let next = &mut self.next_call;

        *self.calls.entry(number).or_insert_with(|| {
            let call = *next;
            *next += 1;
            call
        })
    }

    /// Returns the number of a list of tools.
    pub(super) fn tools(&self, tools: &[ToolDefinition]) -> Option<u64> {
        let mut known = self.tools.iter().rev();
        let found = known.find(|(_, other)| other == tools);
        found.map(|(id, _)| *id)
    }

    /// Gives a list of tools a number. Of very many lists, the oldest are forgotten.
    pub(super) fn add_tools(&mut self, tools: &[ToolDefinition]) -> u64 {
        let id = self.next_tools;
        self.next_tools += 1;

        if self.tools.len() >= MOST_LISTS {
            self.tools.remove(0);
        }
        self.tools.push((id, tools.to_vec()));
        id
    }

    /// Forgets a list that could not be written, so that it is written the next time.
    pub(super) fn forget_tools(&mut self, id: u64) {
        self.tools.retain(|(other, _)| *other != id);
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
