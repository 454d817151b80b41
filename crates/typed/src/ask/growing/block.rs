//! Block scalars: `|` and `>`.

use super::step::Step;
use super::text::Text;

#[derive(Debug, Clone)]
pub(super) struct Block {
    is_literal: bool,
    /// The column of the key.
    parent: usize,
    /// The column of the text; `None` before its first line.
    indent: Option<usize>,
    /// The blanks at the beginning of the line so far.
    column: usize,
    is_in_text: bool,
    /// Whether there is a line break after the last line of text.
    has_break: bool,
    /// The number of blank lines after it.
    blank_lines: usize,
    /// Whether the last line of text begins with a blank. Its line breaks are never folded.
    begins_blank: bool,
}

impl Block {
    pub(super) fn new(header: &str, parent: usize) -> Self {
        let signs = header.split('#').next().unwrap_or_default();
        let digit = signs.chars().find_map(|sign| sign.to_digit(10));
        let indent = digit.and_then(|digit| usize::try_from(digit).ok());

        Self {
            is_literal: header.starts_with('|'),
            parent,
            indent: indent.map(|indent| parent + indent),
            column: 0,
            is_in_text: false,
            has_break: false,
            blank_lines: 0,
            begins_blank: false,
        }
    }

    pub(super) fn take(&mut self, character: char, text: &mut Text) -> Step {
        let is_break = character == '\n';

        match (self.is_in_text, is_break) {
            (true, false) => text.put(character),
            (true, true) => self.end_line(),
            (false, true) => self.end_blank_line(),
            (false, false) if self.is_indentation(character) => self.column += 1,
            (false, false) => return self.begin_line(character, text),
        }

        Step::More
    }

    fn end_line(&mut self) {
        self.is_in_text = false;
        self.has_break = true;
        self.column = 0;
    }

    fn end_blank_line(&mut self) {
        self.blank_lines += 1;
        self.column = 0;
    }

    fn is_indentation(&self, character: char) -> bool {
        character == ' ' && self.indent.is_none_or(|indent| self.column < indent)
    }

    fn begin_line(&mut self, character: char, text: &mut Text) -> Step {
        let column = self.column;
        let indent = self.indent.unwrap_or(column.max(self.parent + 1));

        if column < indent {
            return Step::EndedBefore { column };
        }

        let begins_blank = matches!(character, ' ' | '\t');
        let is_folded = !self.is_literal && !self.begins_blank && !begins_blank;

        if self.has_break && !is_folded {
            text.put('\n');
        } else if self.has_break && self.blank_lines == 0 {
            text.put(' ');
        }

        for _ in 0..self.blank_lines {
            text.put('\n');
        }
        text.put(character);

        self.indent = Some(indent);
        self.is_in_text = true;
        self.has_break = false;
        self.blank_lines = 0;
        self.begins_blank = begins_blank;
        Step::More
    }
}
