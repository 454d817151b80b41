//! Blanks and line breaks in quoted and plain scalars.

use super::text::Text;

/// Blanks and line breaks since the last character. A single line break becomes a space, and of
/// several ones, all but the first are kept.
#[derive(Debug, Clone, Default)]
pub(super) struct Folding {
    blanks: String,
    is_after_break: bool,
    /// Whether the first line break was escaped, so that it leaves no space.
    is_escaped: bool,
    more_breaks: usize,
    /// The blanks at the beginning of the line so far.
    column: usize,
}

impl Folding {
    pub(super) fn is_empty(&self) -> bool {
        self.blanks.is_empty() && !self.is_after_break
    }

    /// Returns the number of blanks at the beginning of the line, if nothing else is in it yet.
    pub(super) fn column(&self) -> Option<usize> {
        self.is_after_break.then_some(self.column)
    }

    /// Takes a blank or a line break.
    pub(super) fn take(&mut self, character: char) {
        match (character, self.is_after_break) {
            ('\n', false) => {
                self.blanks.clear();
                self.is_after_break = true;
            }
            ('\n', true) => {
                self.more_breaks += 1;
                self.column = 0;
            }
            (_, true) => self.column += 1,
            (_, false) => self.blanks.push(character),
        }
    }

    pub(super) fn take_escaped_break(&mut self) {
        self.is_after_break = true;
        self.is_escaped = true;
    }

    /// Writes what is left of the blanks and line breaks.
    pub(super) fn write(&mut self, text: &mut Text) {
        let Self {
            blanks,
            is_after_break,
            is_escaped,
            more_breaks,
            ..
        } = std::mem::take(self);

        if !is_after_break {
            return text.put_all(&blanks);
        }

        if more_breaks == 0 && !is_escaped {
            text.put(' ');
        }
        for _ in 0..more_breaks {
            text.put('\n');
        }
    }
}
