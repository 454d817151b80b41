//! What grows while a reply arrives.
//!
//! The beginning of the reply is read as the whole reply will be, whenever it has grown by a
//! sixty-fourth, or by an eighth if it is long. So the work is proportional to the length of the
//! reply.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use crate::AnswerReader;
use crate::reader::MAX_BYTES;

/// The length of a long text, in bytes, of which people see only the end.
const LONG: usize = 16 * 1024;

/// What has arrived of a reply.
#[derive(Debug, Clone, Default)]
pub(crate) struct Beginning {
    text: String,
    /// The length of the text when it was last read.
    read: usize,
}

impl Beginning {
    /// Adds a piece. Returns the text if it is to be read again.
    pub(crate) fn push(&mut self, piece: &str) -> Option<&str> {
        self.text.push_str(piece);
        // Reading every piece would take quadratic time.
        let parts = if self.read < LONG { 64 } else { 8 };
        let has_grown = self.text.len() >= self.read + self.read / parts;
        // A reply that is longer is refused, so that nobody needs its text.
        if !has_grown || self.text.len() > MAX_BYTES {
            return None;
        }

        self.read = self.text.len();
        Some(&self.text)
    }
}

/// The text of one key of an answer, which grows while the reply arrives.
///
/// Code fences, thinking between `<think>` tags and prose before the key are skipped. If the model
/// starts over, so does the text. It is meant for display: when the reply was read, pass the text
/// that was read to [`finish`](Self::finish).
///
/// ```
/// use cogwork_typed::{AnswerReader, GrowingText};
/// use schemars::JsonSchema;
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Thought { thinking: String, is_last: bool }
///
/// let mut thinking = GrowingText::new(AnswerReader::<Thought>::new(), "thinking");
/// let mut added = Vec::new();
///
/// for piece in ["```json\n{\"think", "ing\": \"2 + 2 ", "is \\", "u0034.\", \"is_last\": "] {
///     if let Some(growth) = thinking.push(piece) {
///         added.push(growth.added.to_owned());
///     }
/// }
///
/// assert_eq!(added, ["2 + 2", " is", " 4."]);
/// ```
#[derive(Clone)]
pub struct GrowingText<T> {
    reader: AnswerReader<T>,
    key: &'static str,
    reply: Beginning,
    text: String,
}

/// A step in the growth of a text; see [`GrowingText`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Growth<'t> {
    /// The end of the text, which is new.
    pub added: &'t str,
    /// Whether the whole text is new. It then replaces any earlier text: that of an earlier reply, of
    /// an earlier block in this reply, or of a wrong guess.
    pub is_start: bool,
}

impl<T: JsonSchema + DeserializeOwned> GrowingText<T> {
    /// Creates the text of a key of `T`.
    pub fn new(reader: AnswerReader<T>, key: &'static str) -> Self {
        Self {
            reader,
            key,
            reply: Beginning::default(),
            text: String::new(),
        }
    }

    /// Adds a piece of the reply. Returns how the text grew, or `None` if it didn't.
    ///
    /// Blanks and line breaks are held back until the text continues after them.
    pub fn push(&mut self, piece: &str) -> Option<Growth<'_>> {
        let text = self
            .reader
            .growing_text(self.reply.push(piece)?, self.key)?;
        self.grow(text.trim_end())
    }

    /// Ends the reply, with the text that was read from it. Returns the rest of the text, or all of
    /// it if it doesn't begin with the text so far, or `None` if they are equal.
    pub fn finish(&mut self, read: &str) -> Option<Growth<'_>> {
        self.grow(read)
    }

    /// Begins with another reply. The text is empty until that reply contains one.
    pub fn reset(&mut self) {
        self.reply = Beginning::default();
        self.text.clear();
    }

    fn grow(&mut self, text: &str) -> Option<Growth<'_>> {
        // A later block, or the end of a word, may change what was read before.
        let before = match text.starts_with(&self.text) {
            true => self.text.len(),
            false => 0,
        };

        text.clone_into(&mut self.text);
        let added = self.text.get(before..).filter(|added| !added.is_empty())?;
        Some(Growth {
            added,
            is_start: before == 0,
        })
    }
}
