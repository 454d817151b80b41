//! Plain scalars: text without quotes.

use super::folding::Folding;
use super::step::Step;
use super::text::Text;

#[derive(Debug, Clone)]
pub(super) struct Plain {
    /// The column of the key.
    parent: usize,
    in_flow: bool,
    folding: Folding,
    /// Whether the text so far is a single dash, which may begin a list.
    is_dash: bool,
    is_empty: bool,
}

impl Plain {
    pub(super) fn new(parent: usize, in_flow: bool) -> Self {
        Self {
            parent,
            in_flow,
            folding: Folding::default(),
            is_dash: false,
            is_empty: true,
        }
    }

    pub(super) fn take(&mut self, character: char, text: &mut Text) -> Step {
        let is_blank = matches!(character, ' ' | '\t' | '\n');

        if self.is_dash && is_blank {
            return Step::EndedInLine; // a list
        }

        if self.is_empty && character == '-' {
            self.is_empty = false;
            self.is_dash = true;
            return Step::More;
        }

        if is_blank {
            self.folding.take(character);
            return Step::More;
        }

        self.take_visible(character, text)
    }

    fn take_visible(&mut self, character: char, text: &mut Text) -> Step {
        let column = self.folding.column();

        if let Some(column) = column.filter(|column| !self.in_flow && *column <= self.parent) {
            return Step::EndedBefore { column };
        }

        let is_comment = character == '#' && !self.folding.is_empty();
        let is_after = self.in_flow && matches!(character, ',' | '[' | ']' | '{' | '}');

        if is_comment || is_after {
            return Step::EndedInLine;
        }

        if self.is_dash {
            text.put('-');
        }

        self.folding.write(text);
        text.put(character);
        self.is_dash = false;
        self.is_empty = false;
        Step::More
    }
}
