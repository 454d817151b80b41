//! Texts that go on until a line begins with another key.

use super::seek;
use super::step::Step;
use super::text::{MAX_BYTES, Text};

/// The maximum number of bytes of a line that are searched for a key and its colon.
const REACH: usize = 80;

#[derive(Debug, Clone)]
pub(super) struct Lines {
    /// The letters of the other keys.
    keys: Vec<String>,
    /// The beginning of a line that may be a key; `None` if the line is part of the text.
    name: Option<String>,
    /// The blanks and line breaks since the last visible character.
    gap: String,
    is_first_line: bool,
    is_empty: bool,
}

impl Lines {
    /// Creates a text that begins in the line of its key.
    pub(super) fn after_key(keys: Vec<String>) -> Self {
        Self {
            keys,
            name: None,
            gap: String::new(),
            is_first_line: true,
            is_empty: true,
        }
    }

    pub(super) fn take(&mut self, character: char, text: &mut Text) -> Step {
        let Some(mut name) = self.name.take() else {
            return self.take_text(character, text);
        };

        let is_colon = matches!(character, ':' | '：');
        if is_colon && self.keys.contains(&seek::letters(&name)) {
            return Step::Closed;
        }

        if seek::is_name(character) && self.may_become_key(&name, character) {
            name.push(character);

            // An unpaired fence around the form isn't part of the text.
            let is_fence = name.trim_start().starts_with("```");
            self.name = Some(name);
            return if is_fence { Step::Closed } else { Step::More };
        }

        for before in name.chars() {
            self.take_text(before, text);
        }
        self.take_text(character, text)
    }

    fn may_become_key(&self, name: &str, next: char) -> bool {
        let mut letters = seek::letters(name);
        if next.is_alphanumeric() {
            letters.extend(next.to_lowercase());
        }

        let is_short = name.len() < REACH;
        is_short && self.keys.iter().any(|key| key.starts_with(&letters))
    }

    fn take_text(&mut self, character: char, text: &mut Text) -> Step {
        // Asterisks directly after the colon close a bold key.
        if character == '*' && self.is_empty && self.gap.is_empty() {
            return Step::More;
        }

        if !character.is_whitespace() {
            self.write_gap(text);
            text.put(character);
            return Step::More;
        }

        if character == '\n' {
            // The text in the line of the key is trimmed.
            if self.is_first_line {
                self.gap.clear();
            }
            self.is_first_line = false;
            self.name = (!self.keys.is_empty()).then(String::new);
        }
        if self.gap.len() < MAX_BYTES {
            self.gap.push(character);
        }

        Step::More
    }

    fn write_gap(&mut self, text: &mut Text) {
        if !self.is_empty {
            text.put_all(&self.gap);
        }

        self.gap.clear();
        self.is_empty = false;
    }
}
