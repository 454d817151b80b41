//! Decodes escapes, including nested ones, in one pass.

use std::ops::Range;

/// The length of the longest escape without its last character: `\U0010fff` of `\U0010ffff`.
pub(super) const LONGEST: usize = 9;

/// A character, or a part of one, and the bytes of the text that encode it.
#[derive(Debug, Clone)]
pub(super) struct Unit {
    pub(super) what: What,
    pub(super) bytes: Range<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Character(char),
    /// A byte of a character in UTF-8, as encoded in URLs.
    Byte(u8),
    /// The first half of a UTF-16 surrogate pair, as encoded in JSON.
    FirstHalf(u32),
}

/// Returns the characters of a text without decoding.
pub(super) fn units(text: &str) -> impl Iterator<Item = Unit> {
    text.char_indices().map(|(start, character)| Unit {
        what: What::Character(character),
        bytes: start..start + character.len_utf8(),
    })
}

/// Returns whether an escape can begin with this character.
pub(super) fn begins(character: char) -> bool {
    matches!(character, '\\' | '%' | '&' | '#')
}

/// Returns whether this character can occur within an escape.
pub(super) fn goes_on_with(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '\\' | '#' | '{')
}

/// Returns the characters of a text with the escapes of JSON, YAML, Rust, URLs, HTML and Mermaid
/// decoded.
///
/// A decoded character may be the end of another escape (`%2541` is `%41` is `A`), so it is
/// processed like a character of the text.
pub(super) fn resolved(text: &str) -> Vec<Unit> {
    let mut resolved = Vec::with_capacity(text.len());
    for unit in units(text) {
        resolved.push(unit);
        while let Some(escape) = Escape::at_end_of(&resolved) {
            escape.replace_in(&mut resolved);
        }
    }

    resolved
}

/// Returns the units without the escapes of white space in JSON, or `None` if there are none.
pub(super) fn without_white_space(units: &[Unit]) -> Option<Vec<Unit>> {
    let is_escaped = |place: usize| {
        let before = place.checked_sub(1).and_then(|before| units.get(before));
        before.is_some_and(|before| before.what == What::Character('\\'))
    };
    let is_white_space = |place: usize, unit: &Unit| {
        let is_letter = matches!(unit.what, What::Character('n' | 'r' | 't'));
        is_letter && is_escaped(place)
    };

    let kept: Vec<_> = units
        .iter()
        .enumerate()
        .filter(|(place, unit)| !is_white_space(*place, unit))
        .map(|(_, unit)| unit.clone())
        .collect();

    (kept.len() < units.len()).then_some(kept)
}

/// The last units of a text, and the character that they encode.
struct Escape {
    units: usize,
    what: What,
}

impl Escape {
    fn at_end_of(units: &[Unit]) -> Option<Self> {
        match units.last()?.what {
            What::Byte(_) => Self::utf8(units),
            What::Character(';') => Self::entity(units),
            What::Character('}') => Self::braced(units),
            What::Character(last) if last.is_ascii_hexdigit() => Self::url(units)
                .or_else(|| Self::backslashed(units, 'x', 2))
                .or_else(|| Self::backslashed(units, 'u', 4))
                .or_else(|| Self::backslashed(units, 'U', 8)),
            What::Character(_) | What::FirstHalf(_) => None,
        }
    }

    fn replace_in(self, units: &mut Vec<Unit>) {
        let first = units.len().saturating_sub(self.units);
        let replaced = units.split_off(first);
        if let (Some(first), Some(last)) = (replaced.first(), replaced.last()) {
            units.push(Unit {
                what: self.what,
                bytes: first.bytes.start..last.bytes.end,
            });
        }
    }

    /// `%41`
    fn url(units: &[Unit]) -> Option<Self> {
        let is_escape = from_end(units, 2)? == '%';
        let byte = u8::try_from(hexadecimal(units, 0, 2).filter(|_| is_escape)?).ok()?;

        let what = if byte.is_ascii() {
            What::Character(byte.into())
        } else {
            What::Byte(byte)
        };

        Some(Self { units: 3, what })
    }

    /// Decodes the last bytes if they are a complete UTF-8 character.
    fn utf8(units: &[Unit]) -> Option<Self> {
        let byte = |unit: &Unit| match unit.what {
            What::Byte(byte) => Some(byte),
            _ => None,
        };
        let mut bytes: Vec<u8> = units.iter().rev().map_while(byte).take(4).collect();
        bytes.reverse();

        (0..bytes.len()).find_map(|first| {
            let bytes = bytes.get(first..)?;
            let character = std::str::from_utf8(bytes).ok()?.chars().next()?;
            Some(Self {
                units: bytes.len(),
                what: What::Character(character),
            })
        })
    }

    /// `\x41`, `\u0041` or `\U00000041`
    fn backslashed(units: &[Unit], kind: char, digits: usize) -> Option<Self> {
        if from_end(units, digits)? != kind {
            return None;
        }

        let code = hexadecimal(units, 0, digits)?;

        Self::of_code(units, code, digits + 1)
    }

    /// `\u{41}`
    fn braced(units: &[Unit]) -> Option<Self> {
        let digits = (1..=6).find(|digits| from_end(units, digits + 1) == Some('{'))?;
        if from_end(units, digits + 2)? != 'u' {
            return None;
        }

        let code = hexadecimal(units, 1, digits)?;

        Self::of_code(units, code, digits + 3)
    }

    /// Decodes a code point whose digits and delimiters are the last `length` units, if a backslash
    /// precedes them. Nested JSON doubles its backslashes, so there may be any number of them. If
    /// only the backslash is itself decoded from an escape, it begins a different escape.
    fn of_code(units: &[Unit], code: u32, length: usize) -> Option<Self> {
        let before = units.get(..units.len().checked_sub(length)?)?;
        let spelt_in = before.last()?.bytes.len();
        let is_backslash =
            |unit: &&Unit| unit.what == What::Character('\\') && unit.bytes.len() == spelt_in;
        let backslashes = before.iter().rev().take_while(is_backslash).count();

        if backslashes == 0 {
            return None;
        }

        let length = length + backslashes;

        let before = before
            .len()
            .checked_sub(backslashes + 1)
            .and_then(|last| before.get(last));
        match (before.map(|unit| unit.what), code) {
            (_, 0xd800..=0xdbff) => Some(Self {
                units: length,
                what: What::FirstHalf(code),
            }),
            (Some(What::FirstHalf(first)), 0xdc00..=0xdfff) => {
                let whole = 0x10000 + ((first - 0xd800) << 10) + (code - 0xdc00);
                Some(Self {
                    units: length + 1,
                    what: What::Character(character(whole)),
                })
            }
            _ => Some(Self {
                units: length,
                what: What::Character(character(code)),
            }),
        }
    }

    /// `&#65;`, `&#x41;`, `&amp;`, and `#65;` or `#quot;` of Mermaid
    fn entity(units: &[Unit]) -> Option<Self> {
        let mut name = Vec::new();
        for place in 1..=LONGEST {
            match from_end(units, place)? {
                '&' => {
                    return Some(Self {
                        units: place + 1,
                        what: What::Character(named(name)?),
                    });
                }
                '#' if from_end(units, place + 1) != Some('&') => {
                    let name = if name.iter().all(char::is_ascii_digit) {
                        [name, vec!['#']].concat()
                    } else {
                        name
                    };
                    return Some(Self {
                        units: place + 1,
                        what: What::Character(named(name)?),
                    });
                }
                character => name.push(character),
            }
        }

        None
    }
}

/// Returns the character of a named entity, whose name is given in reverse.
fn named(name: Vec<char>) -> Option<char> {
    let name: String = name.into_iter().rev().collect();
    let code = match name.strip_prefix('#') {
        Some(number) => match number.strip_prefix(['x', 'X']) {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => number.parse(),
        },
        None => {
            return match name.as_str() {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                "nbsp" => Some('\u{a0}'),
                _ => None,
            };
        }
    };

    code.ok().map(character)
}

/// Returns the character of a code point, or U+FFFD.
fn character(code: u32) -> char {
    char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the character at this distance from the end.
fn from_end(units: &[Unit], place: usize) -> Option<char> {
    match units.get(units.len().checked_sub(place + 1)?)?.what {
        What::Character(character) => Some(character),
        What::Byte(_) | What::FirstHalf(_) => None,
    }
}

/// Parses a number of `digits` hexadecimal digits that are followed by `behind` units.
fn hexadecimal(units: &[Unit], behind: usize, digits: usize) -> Option<u32> {
    (behind..behind + digits)
        .rev()
        .try_fold(0_u32, |number, place| {
            let digit = from_end(units, place)?.to_digit(16)?;
            number.checked_mul(16)?.checked_add(digit)
        })
}
