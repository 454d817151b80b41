//! The text of a key, and its growth.

/// The maximum size of the text, in bytes.
pub(super) const MAX_BYTES: usize = 1024 * 1024;

/// A step in the growth of a text; see [`GrowingText`](crate::ask::GrowingText).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Growth<'t> {
    text: &'t str,
    added: &'t str,
}

impl<'t> Growth<'t> {
    /// Creates the growth of a text by its end.
    pub(crate) fn new(text: &'t str, added: &'t str) -> Self {
        Self { text, added }
    }

    /// Returns the text so far.
    pub fn text(&self) -> &'t str {
        self.text
    }

    /// Returns the end of the text, which is new.
    pub fn added(&self) -> &'t str {
        self.added
    }

    /// Returns whether the whole text is new. It then replaces any earlier text: that of an earlier
    /// reply, of an earlier block in this reply, or of a wrong guess.
    pub fn is_start(&self) -> bool {
        self.text.len() == self.added.len()
    }
}

/// The text, and how it has grown since the last piece.
#[derive(Debug, Clone, Default)]
pub(super) struct Text {
    text: String,
    /// The length before the current growth.
    before: usize,
    /// Whether the next character begins another text.
    restarts: bool,
}

impl Text {
    pub(super) fn as_str(&self) -> &str {
        &self.text
    }

    /// Adds a character, unless the text is full.
    pub(super) fn put(&mut self, character: char) {
        if self.restarts {
            self.restarts = false;
            self.clear();
        }

        if self.text.len() + character.len_utf8() <= MAX_BYTES {
            self.text.push(character);
        }
    }

    pub(super) fn put_all(&mut self, text: &str) {
        text.chars().for_each(|character| self.put(character));
    }

    pub(super) fn replace(&mut self, text: &str) {
        self.restarts = false;

        match text.strip_prefix(self.text.as_str()) {
            Some(rest) => self.text.push_str(rest),
            None => {
                self.clear();
                self.text.push_str(text);
            }
        }
    }

    fn clear(&mut self) {
        self.text.clear();
        self.before = 0;
    }

    pub(super) fn restart_at_next(&mut self) {
        self.restarts = true;
    }

    pub(super) fn begin_growth(&mut self) {
        self.before = self.text.len();
    }

    pub(super) fn growth(&self) -> Option<Growth<'_>> {
        let added = self.text.get(self.before..)?;

        (!added.is_empty()).then_some(Growth {
            text: &self.text,
            added,
        })
    }
}
