//! The questions of a run, and what the host has read of them before.

use std::collections::HashSet;
use std::hash::{Hash, Hasher};

use cogwork_ask::excerpt;
use cogwork_llm::{ChatRequest, Message, Messages, Role};
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
                    add(&mut hasher, message);
                }
            }
            Self::Tool { name, input } => {
                add_text(&mut hasher, name);
                add_text(&mut hasher, &input.to_string());
            }
        }
        hasher.finish() & 0x00ff_ffff
    }
}

/// The messages that the host has read or written.
#[derive(Debug, Default)]
pub(super) struct Known(HashSet<u64>);

impl Known {
    /// Returns the number of messages at the beginning of a conversation that the host has read.
    /// The last message is always new.
    pub(super) fn count(&self, messages: &Messages) -> usize {
        let is_known = |message: &&Message| {
            message.role() == Role::Assistant || self.0.contains(&hash_of(message))
        };

        let known = messages.iter().take_while(is_known).count();
        known.min(messages.len().saturating_sub(1))
    }

    pub(super) fn add(&mut self, messages: &Messages) {
        self.0.extend(messages.iter().map(hash_of));
    }
}

/// The conversations that the host has answered since the last step of the run.
#[derive(Debug, Default)]
pub(super) struct Answered(Vec<(Conversation, String)>);

/// A conversation, as a hash of its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Conversation {
    messages: usize,
    hash: u64,
}

impl Answered {
    pub(super) fn add(&mut self, messages: &Messages, reply: &str, question: &str) {
        let reply = Message::assistant(excerpt(reply));
        let conversation = messages.iter().chain([&reply]);
        let conversation = Conversation::of(conversation, messages.len().saturating_add(1));
        self.0.push((conversation, question.to_owned()));
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// Returns the question that was answered before this conversation was continued.
    pub(super) fn before(&self, messages: &Messages) -> Option<&str> {
        let all: Vec<_> = messages.iter().collect();
        let found = self.0.iter().rev().find(|(answered, _)| {
            let beginning = all.iter().copied().take(answered.messages);
            answered.messages < all.len()
                && *answered == Conversation::of(beginning, answered.messages)
        });
        found.map(|(_, question)| question.as_str())
    }
}

impl Conversation {
    fn of<'m>(beginning: impl Iterator<Item = &'m Message>, messages: usize) -> Self {
        let mut hasher = SipHasher13::new();
        beginning.for_each(|message| add(&mut hasher, message));

        Self {
            messages,
            hash: hasher.finish(),
        }
    }
}

fn hash_of(message: &Message) -> u64 {
    let mut hasher = SipHasher13::new();
    add(&mut hasher, message);
    hasher.finish()
}

fn add(hasher: &mut SipHasher13, message: &Message) {
    add_text(hasher, message.role().as_str());
    add_text(hasher, message.text());
}

fn add_text(hasher: &mut SipHasher13, text: &str) {
    hasher.write(text.as_bytes());
    // The length separates texts. Unlike that of `usize`, this has the same size everywhere.
    (text.len() as u64).hash(hasher);
}
