use std::fmt;

mod scan;

use scan::Scan;

/// Refuses YAML that its parsers pay dearly for, before they see it.
///
/// `yaml_serde` reads a text to its end before it hands over the first value. For every token it looks at all
/// brackets that are open, so deep nesting takes it the square of the text; so do directives, each of which it
/// compares with all others. The guard refuses both, and with them the rare signs that would make
/// structure hard to tell from text: tags, keys after a `?`, and, unless they are allowed, anchors and aliases.
///
/// It goes over the text once and knows just enough YAML for this. It never says that a text is valid.
///
/// ```
/// use cogwork_read::YamlGuard;
///
/// let guard = YamlGuard::new(3);
/// assert!(guard.check("a: [b, {c: d}]").is_ok());
///
/// let refusal = guard.check("a: [b, {c: [d]}]").unwrap_err();
/// assert_eq!(refusal.offset, 11);
/// assert_eq!(refusal.reason.to_string(), "the nesting is too deep; at most 3 levels are read");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub struct YamlGuard {
    max_nesting: usize,
    max_items: usize,
    allows_trailing_comments: bool,
    allows_anchors: bool,
}

impl YamlGuard {
    /// Creates a guard that allows at most `max_nesting` collections within one another.
    pub fn new(max_nesting: usize) -> Self {
        Self {
            max_nesting,
            max_items: usize::MAX,
            allows_trailing_comments: false,
            allows_anchors: false,
        }
    }

    /// Sets the maximum number of items of lists and of mappings in `{}`. Unlimited by default.
    pub fn with_max_items(mut self, items: usize) -> Self {
        self.max_items = items;
        self
    }

    /// Allows a comment behind an unquoted text. By default only a comment on a line of its own is
    /// allowed: who does not know YAML means ` #` as text, and would lose what follows.
    pub fn allow_trailing_comments(mut self) -> Self {
        self.allows_trailing_comments = true;
        self
    }

    /// Allows anchors and aliases. The caller must bound what they multiply.
    pub fn allow_anchors(mut self) -> Self {
        self.allows_anchors = true;
        self
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// The first thing in it that is refused.
    pub fn check(&self, text: &str) -> Result<(), YamlRefusal> {
        crate::charge(text.len());

        if let Some((offset, _)) = text.char_indices().find(|(_, c)| !is_allowed(*c)) {
            return Err(YamlRefusal {
                offset,
                reason: Refused::Control,
            });
        }

        let mut scan = Scan::new(*self);
        let mut offset = 0;

        for line in text.split_inclusive(is_break) {
            let content = line.trim_end_matches(is_break);
            let refusal = |scan::Stop { at, reason }| YamlRefusal {
                offset: offset + at,
                reason,
            };
            scan.line(content.as_bytes()).map_err(refusal)?;
            offset += line.len();
        }

        Ok(())
    }
}

/// What a [`YamlGuard`] refuses, and where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct YamlRefusal {
    /// The place in the text, in bytes.
    pub offset: usize,
    /// What stands there.
    pub reason: Refused,
}

/// What a [`YamlGuard`] refuses. `Display` says it in one sentence, with what would be accepted.
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
    /// More collections within one another than this.
    Nesting(usize),
    /// More items than this.
    Items(usize),
    /// A second document.
    Documents,
    /// A control character.
    Control,
    /// A comment behind an unquoted text.
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

/// YAML 1.1 has more line breaks than most know, and structure may follow each.
fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

fn is_allowed(c: char) -> bool {
    c == '\t' || is_break(c) || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}
