use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::{Message, Role};

/// An append-only list of messages that shares its common beginning with its clones.
///
/// Cloning takes constant time, and pushing to a clone doesn't change the original. A loop that
/// sends the same conversation with one more message each time therefore keeps every message once,
/// even if it keeps all its requests.
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

/// A message and those before it. Linking backwards makes both cloning and pushing constant-time; a
/// `Vec` in an `Arc` would be copied whenever an older clone exists.
struct Link {
    message: Message,
    length: usize,
    earlier: Option<Arc<Link>>,
}

impl Messages {
    /// Creates an empty conversation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a message.
    pub fn push(&mut self, message: Message) {
        let length = self.len() + 1;
        self.newest = Some(Arc::new(Link {
            message,
            length,
            earlier: self.newest.take(),
        }));
    }

    /// Appends a message. A message of the user that follows another one becomes part of it, because
    /// some servers refuse two messages with the same role in a row.
    pub fn add(&mut self, message: Message) {
        let is_user = |message: &Message| message.role() == Role::User;
        let last = self
            .last()
            .filter(|last| is_user(last) && is_user(&message));
        let Some(last) = last.cloned() else {
            return self.push(message);
        };

        let text = match last.text() {
            "" => message.text().to_owned(),
            text => format!("{text}\n\n{}", message.text()),
        };
        let blocks = last.blocks().iter().chain(message.blocks()).cloned();
        self.pop();
        self.push(Message::user(text).with_blocks(blocks));
    }

    /// Removes and returns the last message. Clones keep it.
    pub fn pop(&mut self) -> Option<Message> {
        let newest = self.newest.take()?;
        self.newest.clone_from(&newest.earlier);
        Some(newest.message.clone())
    }

    /// Returns the number of messages.
    pub fn len(&self) -> usize {
        self.newest.as_ref().map_or(0, |link| link.length)
    }

    /// Returns whether there are no messages.
    pub fn is_empty(&self) -> bool {
        self.newest.is_none()
    }

    /// Returns the last message.
    pub fn last(&self) -> Option<&Message> {
        self.newest.as_ref().map(|link| &link.message)
    }

    /// Returns an iterator over the messages, oldest first.
    pub fn iter(&self) -> std::vec::IntoIter<&Message> {
        let mut messages = Vec::with_capacity(self.len());
        let mut next = self.newest.as_ref();
        while let Some(link) = next {
            messages.push(&link.message);
            next = link.earlier.as_ref();
        }

        // They are linked from the newest to the oldest.
        messages.reverse();
        messages.into_iter()
    }
}

impl Drop for Messages {
    /// Unlinks the messages one by one: dropping them recursively would overflow the stack.
    fn drop(&mut self) {
        let mut next = self.newest.take();
        while let Some(link) = next {
            // `None` if a clone still needs the message, and with it all earlier ones.
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

impl From<Message> for Messages {
    fn from(message: Message) -> Self {
        [message].into_iter().collect()
    }
}

impl From<Vec<Message>> for Messages {
    fn from(messages: Vec<Message>) -> Self {
        messages.into_iter().collect()
    }
}

/// A text is a message of the user.
impl From<&str> for Messages {
    fn from(text: &str) -> Self {
        Message::user(text).into()
    }
}

impl From<&String> for Messages {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<String> for Messages {
    fn from(text: String) -> Self {
        Message::user(text).into()
    }
}

impl PartialEq for Messages {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().eq(other.iter())
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
