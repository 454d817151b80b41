use std::fmt;

use super::lexeme::is_break;

/// A construct that a [`YamlGuard`](super::YamlGuard) refuses, and its location.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YamlRefusal {
    /// The offset in the text, in bytes.
    pub offset: usize,
    /// The construct.
    pub reason: Refused,
}

impl YamlRefusal {
    /// Returns the line number of the construct, starting at 1. `text` must be the text that was
    /// checked.
    pub fn line(&self, text: &str) -> usize {
        let before = text.get(..self.offset).unwrap_or(text);

        let breaks = before.matches(is_break).count();
        let pairs = before.matches("\r\n").count();
        breaks.saturating_sub(pairs) + 1
    }
}

/// A construct that a [`YamlGuard`](super::YamlGuard) refuses. `Display` describes the construct
/// and what would be accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Refused {
    /// `&name`.
    Anchor,
    /// `*name`.
    Alias,
    /// `!name`.
    Tag,
    /// `%NAME` at the beginning of a line.
    Directive,
    /// `? ` before a key.
    ExplicitKey,
    /// A colon without a key before it.
    NoKey,
    /// More nested collections than this.
    Nesting(usize),
    /// More items than this.
    Items(usize),
    /// A second document.
    Documents,
    /// A control character.
    Control,
    /// A comment after unquoted text.
    Comment,
    /// A byte order mark where a value or a key begins.
    ByteOrderMark,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Self::Nesting(max) => {
                return write!(f, "the nesting is too deep; at most {max} levels are read");
            }
            Self::Items(max) => {
                return write!(f, "there are more than {max} items; expected fewer");
            }
            Self::Anchor => "anchors (`&name`) are not read; put the text in quotes",
            Self::Alias => "aliases (`*name`) are not read; put the text in quotes",
            Self::Tag => "tags (`!name`) are not read; put the text in quotes",
            Self::Directive => "directives (`%NAME`) are not read; put the text in quotes",
            Self::ExplicitKey => "keys after a `?` are not read; put the text in quotes",
            Self::NoKey => "there is no key before this `:`; expected `key: value`",
            Self::Documents => "there is more than one YAML document; expected one",
            Self::Control => "control characters are not read; expected plain text",
            Self::Comment => {
                "a ` #` begins a comment, and the text after it would be lost; put the text in double quotes"
            }
            Self::ByteOrderMark => "a byte order mark is not read here; put the text in quotes",
        };
        f.write_str(text)
    }
}
