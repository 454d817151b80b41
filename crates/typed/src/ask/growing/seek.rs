//! Finds the key.

use crate::ask::is_reply_fence;

/// The place of a key that was found.
pub(super) struct Sought {
    /// The column of the key.
    pub(super) column: usize,
    /// Whether the key is inside brackets.
    pub(super) in_flow: bool,
}

/// The maximum number of characters of a key, including quotes and blanks.
const REACH: usize = 64;

/// Looks for a key at the beginning of a line, or after a bracket or comma.
///
/// Once the key was found, it is only looked for in a later block or document.
#[derive(Debug, Clone, Default)]
pub(super) struct Seek {
    place: Place,
    column: usize,
    in_flow: bool,
    name: Name,
    /// The sign of a fence, and how often it was repeated.
    ticks: Option<(char, usize)>,
    /// The number of dashes at the beginning of the line.
    dashes: usize,
    fence: Fence,
    has_found: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Place {
    /// At the beginning of a line, where a key may begin.
    #[default]
    LineStart,
    /// After a bracket or comma, where a quoted key may begin.
    AfterBracket,
    /// In what may be a key.
    InName,
    /// In the label after an opening fence.
    InLabel,
    /// Where no key may begin.
    InLine,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Fence {
    #[default]
    Closed,
    Open,
    /// A fence around code, which contains no reply.
    AroundCode,
}

/// What may be a key.
#[derive(Debug, Clone, Default)]
struct Name {
    letters: String,
    length: usize,
    is_bold: bool,
}

impl Seek {
    /// Goes on after a value, in the same line.
    pub(super) fn go_on_in_line(&mut self) {
        self.place = Place::InLine;
        self.ticks = None;
    }

    /// Goes on at the beginning of a line, after some blanks.
    pub(super) fn begin_line(&mut self, column: usize) {
        self.place = Place::LineStart;
        self.column = column;
        self.ticks = None;
        self.dashes = 0;
    }

    /// Takes a character. Returns the place of the key if this is the colon after it.
    pub(super) fn take(&mut self, character: char, key: &str) -> Option<Sought> {
        self.see_fence(character);

        if character == '\n' {
            self.see_label_end();
            self.begin_line(0);
            return None;
        }

        match self.place {
            Place::LineStart | Place::AfterBracket => self.begin(character),
            Place::InLabel if !matches!(character, ':' | '：') => self.see_label(character),
            // Without a line break after the fence, the label is the key.
            Place::InName | Place::InLabel => return self.see_name(character, key),
            Place::InLine => self.see_text(character),
        }

        None
    }

    /// Takes a character where a key may begin.
    fn begin(&mut self, character: char) {
        match character {
            ' ' | '\t' | '\u{feff}' | '\u{200b}' => self.column += 1,
            '{' | '[' => {
                self.in_flow = true;
                self.place = Place::LineStart;
            }
            '-' if self.place == Place::LineStart => self.see_dash(),
            '"' | '\'' => self.begin_name(character),
            _ if self.place == Place::LineStart && is_name(character) => self.begin_name(character),
            _ => self.go_on_with_text(character),
        }
    }

    /// Takes a dash, which begins an item of a list or a YAML document.
    fn see_dash(&mut self) {
        self.column += 1;
        self.dashes += 1;

        if self.dashes == 3 && self.column == 3 {
            self.begin_block();
        }
    }

    fn begin_name(&mut self, character: char) {
        self.place = Place::InName;
        self.name = Name::default();
        self.name.push(character);
    }

    fn see_name(&mut self, character: char, key: &str) -> Option<Sought> {
        if matches!(character, ':' | '：') {
            let is_key = self.name.letters == key;
            self.place = Place::InLine;

            return (is_key && self.may_find()).then(|| self.found());
        }

        if is_name(character) && self.name.length < REACH {
            self.name.push(character);
        } else {
            self.go_on_with_text(character);
        }

        None
    }

    fn may_find(&self) -> bool {
        !self.has_found && self.fence != Fence::AroundCode
    }

    fn found(&mut self) -> Sought {
        self.has_found = true;

        Sought {
            column: self.column,
            in_flow: self.in_flow,
        }
    }

    fn go_on_with_text(&mut self, character: char) {
        self.place = Place::InLine;
        self.see_text(character);
    }

    fn see_text(&mut self, character: char) {
        if matches!(character, '{' | ',') {
            self.in_flow |= character == '{';
            self.place = Place::AfterBracket;
        }
    }

    /// Counts the signs of a fence, and opens or closes it at the third.
    fn see_fence(&mut self, character: char) {
        let count = match self.ticks {
            Some((sign, count)) if sign == character => count + 1,
            _ => 1,
        };

        self.ticks = matches!(character, '`' | '~').then_some((character, count));
        if self.ticks.is_none() || count != 3 {
            return;
        }

        if self.fence == Fence::Closed {
            self.fence = Fence::Open;
            self.begin_block();
            self.column = 0;
            self.place = Place::InLabel;
            self.name = Name::default();
        } else {
            self.fence = Fence::Closed;
            self.place = Place::InLine;
        }
    }

    fn begin_block(&mut self) {
        self.has_found = false;
        self.in_flow = false;
    }

    fn see_label(&mut self, character: char) {
        match character {
            '`' | '~' => {}
            '{' | '"' => {
                self.place = Place::LineStart;
                self.begin(character);
            }
            ' ' | '\t' if self.name.letters.is_empty() => {}
            ' ' | '\t' => {
                self.see_label_end();
                self.place = Place::LineStart;
            }
            _ if self.name.length < REACH => self.name.push(character),
            _ => self.place = Place::InLine,
        }
    }

    fn see_label_end(&mut self) {
        let is_label = self.place == Place::InLabel;

        if is_label && !is_reply_fence(&self.name.letters) {
            self.fence = Fence::AroundCode;
        }
    }
}

impl Name {
    fn push(&mut self, character: char) {
        self.length += 1;
        self.is_bold |= character == '*';

        if character.is_alphanumeric() {
            self.letters.extend(character.to_lowercase());
        }
    }
}

/// Returns the letters of a key in lower case, which don't depend on its spelling.
pub(super) fn letters(key: &str) -> String {
    key.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

pub(super) fn is_name(character: char) -> bool {
    character.is_alphanumeric()
        || matches!(character, ' ' | '\t')
        || "_-*`\"'“”‘’".contains(character)
}
