//! The questions of a run, and what the host has read of them before.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use cogwork_llm::{ChatRequest, Message, Messages, Role};
use cogwork_typed::ask::excerpt;
use serde_json::Value;
use siphasher::sip::SipHasher13;

/// A question that the host has to answer.
#[derive(Debug, Clone)]
pub(super) struct Question {
    /// The position of the question, and a hash of its text.
    pub(super) id: String,
    pub(super) asked: Asked,
    /// The reply that could not be used, if the question is asked because of it.
    pub(super) refusal: Option<RefusedReply>,
}

/// What is asked.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// The next message of a conversation.
    Model {
        messages: Messages,
        /// The number of messages at the beginning that the host has read or written before.
        known: usize,
        /// The maximum length of the reply, in tokens.
        max_tokens: Option<u32>,
    },
    /// The output of a tool.
    Tool { name: String, input: Value },
}

/// A reply that could not be used.
#[derive(Debug, Clone)]
pub(super) struct RefusedReply {
    /// The question that it replied to.
    pub(super) question: String,
    /// What is wrong with it, and where.
    pub(super) problem: String,
}

impl Question {
    pub(super) fn is_for_tool(&self) -> bool {
        matches!(self.asked, Asked::Tool { .. })
    }
}

impl Asked {
    /// Returns the new messages of a conversation.
    pub(super) fn new_messages(&self) -> impl Iterator<Item = &Message> {
        let (messages, known) = match self {
            Self::Model {
                messages, known, ..
            } => (Some(messages), *known),
            Self::Tool { .. } => (None, 0),
        };
        messages.into_iter().flat_map(Messages::iter).skip(known)
    }

    /// Returns the number of tokens that the host reads in order to answer.
    pub(super) fn tokens(&self) -> u64 {
        let messages = self.new_messages().cloned();
        ChatRequest::new(messages).estimated_tokens()
    }

    /// Returns a short hash, which is the same in every version of this program.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = SipHasher13::new();
        match self {
            Self::Model { messages, .. } => {
                for message in messages.iter() {
                    add(&mut hasher, message.role().as_str());
                    add(&mut hasher, message.text());
                }
            }
            Self::Tool { name, input } => {
                add(&mut hasher, name);
                add(&mut hasher, &input.to_string());
            }
        }
        hasher.finish() & 0x00ff_ffff
    }
}

fn add(hasher: &mut SipHasher13, text: &str) {
    hasher.write(text.as_bytes());
    // The length separates texts. Unlike that of `usize`, this has the same size everywhere.
    (text.len() as u64).hash(hasher);
}

/// The messages that the host has read or written.
#[derive(Debug, Default)]
pub(super) struct Known(HashSet<Message>);

impl Known {
    /// Returns the number of messages at the beginning of a conversation that the host has read.
    /// The last message is always new.
    pub(super) fn count(&self, messages: &Messages) -> usize {
        let is_known =
            |message: &&Message| message.role() == Role::Assistant || self.0.contains(*message);

        let known = messages.iter().take_while(is_known).count();
        known.min(messages.len().saturating_sub(1))
    }

    pub(super) fn add(&mut self, messages: &Messages) {
        self.0.extend(messages.iter().cloned());
    }
}

/// The conversations that the host has answered since the last step of the run, each with the
/// question that was answered.
#[derive(Debug, Default)]
pub(super) struct Answered(Vec<(Vec<Message>, String)>);

impl Answered {
    pub(super) fn add(&mut self, messages: &Messages, reply: &str, question: &str) {
        let reply = Message::assistant(excerpt(reply));
        let conversation = messages.iter().cloned().chain([reply]).collect();
        self.0.push((conversation, question.to_owned()));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the question that was answered before this conversation was continued.
    pub(super) fn before(&self, messages: &Messages) -> Option<&str> {
        let is_continued = |answered: &[Message]| {
            let beginning = messages.iter().take(answered.len());
            answered.len() < messages.len() && beginning.eq(answered)
        };
        let mut answered = self.0.iter().rev();
        let found = answered.find(|(conversation, _)| is_continued(conversation));
        found.map(|(_, question)| question.as_str())
    }
}
