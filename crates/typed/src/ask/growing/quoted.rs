//! Scalars in quotes.

use super::escape::{Escape, Escaped};
use super::folding::Folding;
use super::step::Step;
use super::text::Text;

#[derive(Debug, Clone)]
pub(super) struct Quoted {
    quote: char,
    folding: Folding,
    escape: Escape,
    /// Whether the last character was a single quote, which ends the text unless another follows.
    is_after_quote: bool,
}

impl Quoted {
    pub(super) fn new(quote: char) -> Self {
        Self {
            quote,
            folding: Folding::default(),
            escape: Escape::default(),
            is_after_quote: false,
        }
    }

    pub(super) fn take(&mut self, character: char, text: &mut Text) -> Step {
        match self.escape.take(character) {
            Escaped::No => {}
            Escaped::Incomplete => return Step::More,
            Escaped::Break => {
                self.folding.take_escaped_break();
                return Step::More;
            }
            Escaped::Text(escaped) => {
                text.put_all(&escaped);
                return Step::More;
            }
            Escaped::TextBefore(escaped) => text.put_all(&escaped),
        }

        if self.is_after_quote && character != '\'' {
            return Step::EndedInLine;
        }

        if matches!(character, ' ' | '\t' | '\n') {
            self.folding.take(character);
            return Step::More;
        }

        self.folding.write(text);
        self.take_visible(character, text)
    }

    fn take_visible(&mut self, character: char, text: &mut Text) -> Step {
        match (self.quote, character) {
            ('"', '"') => return Step::Closed,
            ('"', '\\') => self.escape.begin(),
            ('\'', '\'') if !self.is_after_quote => self.is_after_quote = true,
            _ => {
                self.is_after_quote = false;
                text.put(character);
            }
        }

        Step::More
    }
}
