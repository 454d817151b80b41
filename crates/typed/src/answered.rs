use cogwork_llm::Message;

use crate::ask::{AskLog, Repair};

/// An answer, and how it came about.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Answered<T> {
    /// The value.
    pub value: T,
    /// What was corrected to read the reply. Empty if it was exactly in the wanted form.
    pub repairs: Vec<Repair>,
    /// The replies, the forms that were requested, and the cost.
    pub log: AskLog,
    /// What was added to the conversation: the calls of tools with their results, and the reply.
    pub messages: Vec<Message>,
}
