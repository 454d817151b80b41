//! Values that grow while a reply arrives.
//!
//! The beginning of the reply is read as the whole reply will be, whenever it has grown by a
//! sixty-fourth. So the work is proportional to the length of the reply.

use serde_json::Value;

use crate::ask::Growth;

/// What has arrived of an answer.
///
/// The value is as it is written: a key or a number may still be corrected when the reply is whole.
/// A text grows with the reply, and any other value is added when it is complete.
#[derive(Debug, Clone, Default)]
pub struct GrowingAnswer {
    arrived: Arrived,
    value: Value,
}

impl GrowingAnswer {
    /// Returns what has arrived of the value, or null if it hasn't begun.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Adds a piece of the reply. Returns whether the value changed.
    pub(crate) fn push(&mut self, piece: &str, read: impl FnOnce(&str) -> Option<Value>) -> bool {
        let Some(text) = self.arrived.push(piece) else {
            return false;
        };

        let value = read(text).unwrap_or_default();
        let is_new = value != self.value;
        self.value = value;
        is_new
    }
}

/// A text of an answer, such as its `thought`, that grows while the reply arrives.
#[derive(Debug, Clone, Default)]
pub struct GrowingText {
    arrived: Arrived,
    text: String,
}

impl GrowingText {
    /// Adds a piece of the reply, of which `read` returns the text. Returns how the text grew, or
    /// `None` if it didn't.
    pub fn push(
        &mut self,
        piece: &str,
        read: impl FnOnce(&str) -> Option<String>,
    ) -> Option<Growth<'_>> {
        let text = read(self.arrived.push(piece)?)?;
        self.grow(text)
    }

    /// Ends the reply, with the text that was read from it. Returns the rest of the text, or all of
    /// it if it doesn't begin with the text so far, or `None` if they are equal.
    pub fn finish(&mut self, read: &str) -> Option<Growth<'_>> {
        self.grow(read.to_owned())
    }

    /// Returns the text so far.
    pub fn text(&self) -> &str {
        &self.text
    }

    fn grow(&mut self, text: String) -> Option<Growth<'_>> {
        let before = std::mem::replace(&mut self.text, text);
        let text = self.text.as_str();
        let added = text.strip_prefix(before.as_str()).unwrap_or(text);

        (!added.is_empty()).then(|| Growth::new(text, added))
    }
}

/// What has arrived of a reply.
#[derive(Debug, Clone, Default)]
struct Arrived {
    text: String,
    /// The length of the text when it was last read.
    read: usize,
}

impl Arrived {
    /// Adds a piece. Returns the text if it is time to read it again.
    fn push(&mut self, piece: &str) -> Option<&str> {
        self.text.push_str(piece);
        if self.text.len() < self.read + self.read / 64 {
            return None;
        }

        self.read = self.text.len();
        Some(&self.text)
    }
}
