use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::Message;

/// A conversation: messages in order, append-only, sharing what it has in common with its clones.
///
/// A clone costs one reference count whatever the length, and pushing to a clone leaves the
/// original alone. A loop that sends the same conversation, a little longer each time, so holds
/// every message once, even when all its requests are kept.
///
/// ```
/// use cogwork_llm::{Message, Messages};
///
/// let first: Messages = [Message::system("Be brief."), Message::user("Hello")].into_iter().collect();
/// let mut second = first.clone();
/// second.push(Message::assistant("Hi."));
/// assert_eq!(first.len(), 2);
/// assert_eq!(second.iter().map(Message::text).collect::<Vec<_>>(), ["Be brief.", "Hello", "Hi."]);
/// ```
#[derive(Clone, Default)]
pub struct Messages {
    newest: Option<Arc<Link>>,
}

/// A message and the ones before it. A list linked backwards is what makes a clone free and a
/// push constant; a `Vec` behind an `Arc` would copy itself whenever an older clone is alive.
struct Link {
    message: Message,
    length: usize,
    earlier: Option<Arc<Link>>,
}

impl Messages {
    /// An empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a message at the end.
    pub fn push(&mut self, message: Message) {
        let length = self.len() + 1;
        self.newest = Some(Arc::new(Link {
            message,
            length,
            earlier: self.newest.take(),
        }));
    }

    /// Takes the newest message off the end. Clones keep it.
    pub fn pop(&mut self) -> Option<Message> {
        let newest = self.newest.take()?;
        self.newest.clone_from(&newest.earlier);
        Some(newest.message.clone())
    }

    /// How many messages there are.
    pub fn len(&self) -> usize {
        self.newest.as_ref().map_or(0, |link| link.length)
    }

    /// Whether there is no message.
    pub fn is_empty(&self) -> bool {
        self.newest.is_none()
    }

    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.newest.as_ref().map(|link| &link.message)
    }

    /// The messages, oldest first.
    pub fn iter(&self) -> std::vec::IntoIter<&Message> {
        let mut messages = Vec::with_capacity(self.len());
        let mut next = self.newest.as_ref();
        while let Some(link) = next {
            messages.push(&link.message);
            next = link.earlier.as_ref();
        }

        messages.reverse();
        messages.into_iter()
    }
}

impl Drop for Messages {
    /// Unlinks one by one: dropping the links recursively would exhaust the stack on a long list.
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(link) = next {
            next = Arc::into_inner(link).and_then(|mut link| link.earlier.take());
        }
    }
}

impl<'a> IntoIterator for &'a Messages {
    type Item = &'a Message;
    type IntoIter = std::vec::IntoIter<&'a Message>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl Extend<Message> for Messages {
    fn extend<I: IntoIterator<Item = Message>>(&mut self, messages: I) {
        messages.into_iter().for_each(|message| self.push(message));
    }
}

impl FromIterator<Message> for Messages {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut all = Self::new();
        all.extend(messages);
        all
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
    }
}

impl Eq for Messages {}

impl Hash for Messages {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_usize(self.len());
        self.iter().for_each(|message| message.hash(state));
    }
}

impl fmt::Debug for Messages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl Serialize for Messages {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

impl<'de> Deserialize<'de> for Messages {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Vec::<Message>::deserialize(deserializer)?
            .into_iter()
            .collect())
    }
}
