//! The part of a record that this recorder writes: the numbers of its messages and calls.

use std::collections::HashMap;
use std::sync::Arc;

use cogwork_flow::StepName;
use cogwork_llm::Message;

use crate::MessageIds;

/// The numbers that were given so far.
#[derive(Debug, Default)]
pub(super) struct Part {
    messages: HashMap<Message, u64>,
    next_message: u64,
    /// The numbers of calls in the record, by their numbers in this process.
    calls: HashMap<u64, u64>,
    next_call: u64,
    /// The messages of calls that haven't ended.
    sent: HashMap<u64, MessageIds>,
    /// The step of the last event, as JSON.
    step: Option<(Arc<StepName>, String)>,
}

impl Part {
    /// Continues the numbers of an earlier part.
    pub(super) fn after(next_message: u64, next_call: u64) -> Self {
        Self {
            next_message,
            next_call,
            ..Self::default()
        }
    }

    /// Returns the number of a message that has one.
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

    /// Keeps the messages of a call until it ends.
    pub(super) fn send(&mut self, number: u64, messages: MessageIds) {
        self.sent.insert(number, messages);
    }

    /// Returns the messages of a call that ends.
    pub(super) fn end(&mut self, number: u64) -> MessageIds {
        self.sent.remove(&number).unwrap_or_default()
    }

    /// Returns the name of a step as JSON. Most events have the same step as the one before.
    pub(super) fn step(&mut self, step: &Arc<StepName>) -> serde_json::Result<&str> {
        let is_same = |(last, _): &(Arc<StepName>, String)| Arc::ptr_eq(last, step);

        if !self.step.as_ref().is_some_and(is_same) {
            let json = serde_json::to_string(&**step)?;
            self.step = Some((Arc::clone(step), json));
        }

        Ok(self.step.as_ref().map_or("null", |(_, json)| json.as_str()))
    }
}
