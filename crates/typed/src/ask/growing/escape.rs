//! Escapes in double quotes, of both YAML and JSON.

/// An escape that is being read.
#[derive(Debug, Clone, Default)]
pub(super) struct Escape {
    state: State,
    /// The first half of a surrogate pair.
    high: Option<u32>,
}

#[derive(Debug, Clone, Copy, Default)]
enum State {
    #[default]
    None,
    AfterBackslash,
    Hex {
        digits_left: u32,
        value: u32,
        is_utf16: bool,
    },
}

/// What a character is part of.
pub(super) enum Escaped {
    /// No escape.
    No,
    /// An escape that isn't complete yet.
    Incomplete,
    /// The end of an escape with this text.
    Text(String),
    /// No escape, but there was an incomplete one before it, which becomes this text.
    TextBefore(String),
    /// An escaped line break.
    Break,
}

impl Escape {
    /// Begins an escape after a backslash.
    pub(super) fn begin(&mut self) {
        self.state = State::AfterBackslash;
    }

    pub(super) fn take(&mut self, character: char) -> Escaped {
        match self.state {
            State::None if self.high.is_none() || character == '\\' => Escaped::No,
            State::None => Escaped::TextBefore(self.lone_surrogate()),
            State::AfterBackslash => self.take_sign(character),
            State::Hex {
                digits_left,
                value,
                is_utf16,
            } => {
                let Some(digit) = character.to_digit(16) else {
                    self.state = State::None;
                    let text = self.lone_surrogate() + REPLACEMENT;
                    return Escaped::TextBefore(text);
                };

                self.take_digits(digits_left - 1, value << 4 | digit, is_utf16)
            }
        }
    }

    fn take_sign(&mut self, character: char) -> Escaped {
        let digits = match character {
            'x' => 2,
            'u' => 4,
            'U' => 8,
            _ => return self.take_letter(character),
        };

        self.state = State::Hex {
            digits_left: digits,
            value: 0,
            is_utf16: character == 'u',
        };
        Escaped::Incomplete
    }

    fn take_letter(&mut self, character: char) -> Escaped {
        self.state = State::None;
        let mut text = self.lone_surrogate();

        let unescaped = match character {
            '\n' => return Escaped::Break,
            '0' => '\0',
            'a' => '\u{7}',
            'b' => '\u{8}',
            't' => '\t',
            'n' => '\n',
            'v' => '\u{b}',
            'f' => '\u{c}',
            'r' => '\r',
            'e' => '\u{1b}',
            'N' => '\u{85}',
            '_' => '\u{a0}',
            'L' => '\u{2028}',
            'P' => '\u{2029}',
            ' ' | '\t' | '"' | '\'' | '/' | '\\' => character,
            // Not an escape. The backslash was probably meant.
            _ => {
                text.push('\\');
                character
            }
        };

        text.push(unescaped);
        Escaped::Text(text)
    }

    fn take_digits(&mut self, digits_left: u32, value: u32, is_utf16: bool) -> Escaped {
        if digits_left > 0 {
            self.state = State::Hex {
                digits_left,
                value,
                is_utf16,
            };
            return Escaped::Incomplete;
        }

        self.state = State::None;
        let high = self.high.take();

        let joined = match (high, value) {
            (Some(high), 0xdc00..=0xdfff) => {
                char::from_u32(0x1_0000 + ((high - 0xd800) << 10) + (value - 0xdc00))
            }
            _ => None,
        };
        if let Some(joined) = joined {
            return Escaped::Text(joined.to_string());
        }

        let mut text = high.map_or_else(String::new, |_| REPLACEMENT.to_owned());
        if is_utf16 && (0xd800..=0xdbff).contains(&value) {
            self.high = Some(value);
        } else {
            text.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
        }

        Escaped::Text(text)
    }

    /// Forgets the first half of a surrogate pair, and returns what is shown for it.
    fn lone_surrogate(&mut self) -> String {
        self.high
            .take()
            .map_or_else(String::new, |_| REPLACEMENT.to_owned())
    }
}

const REPLACEMENT: &str = "\u{fffd}";
