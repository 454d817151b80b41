//! Values that grow while a reply arrives.

use serde_json::Value;

/// What has arrived of an answer.
///
/// The beginning of the reply is read as the whole reply will be, whenever it has grown by a
/// sixty-fourth. So the work is proportional to the length of the reply.
///
/// The value is as it is written: a key or a number may still be corrected when the reply is whole.
/// A text grows with the reply, and any other value is added when it is complete.
#[derive(Debug, Clone, Default)]
pub struct GrowingAnswer {
    text: String,
    /// The length of the text when it was last read.
    read: usize,
    value: Value,
}

impl GrowingAnswer {
    /// Returns what has arrived of the value, or null if it hasn't begun.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// Adds a piece of the reply. Returns whether the value changed.
    pub(crate) fn push(&mut self, piece: &str, read: impl FnOnce(&str) -> Option<Value>) -> bool {
        self.text.push_str(piece);
        if self.text.len() < self.read + self.read / 64 {
            return false;
        }

        self.read = self.text.len();
        let value = read(&self.text).unwrap_or_default();
        let is_new = value != self.value;
        self.value = value;
        is_new
    }
}
