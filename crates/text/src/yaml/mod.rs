//! Refuses YAML that is expensive to parse, before it is parsed.

mod lexeme;
mod scan;

mod refusal;
pub use refusal::{Refused, YamlRefusal};

use lexeme::is_break;
use scan::{Rules, Scan};

/// A check that refuses YAML that is expensive to parse, before it is parsed.
///
/// `yaml_serde` reads the whole text before it returns the first value. For every token, it
/// examines all open brackets, so deep nesting takes quadratic time; so do directives, each of
/// which it compares with all others. The guard refuses both, and the rare constructs that would
/// make it hard to distinguish structure from text: tags, keys after a `?`, anchors and aliases.
///
/// It scans the text once and only recognizes the basic structure of YAML, so an accepted text
/// isn't necessarily valid.
///
/// ```
/// use cogwork_text::yaml::YamlGuard;
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
    rules: Rules,
}

impl YamlGuard {
    /// Creates a guard that allows at most `max_nesting` nested collections.
    pub fn new(max_nesting: usize) -> Self {
        Self {
            rules: Rules {
                max_nesting,
                max_items: usize::MAX,
                allows_trailing_comments: false,
            },
        }
    }

    /// Sets the maximum number of list items and of mappings in `{}`. Unlimited by default.
    pub fn with_max_items(mut self, items: usize) -> Self {
        self.rules.max_items = items;
        self
    }

    /// Allows comments after unquoted text. By default, only comments on separate lines are
    /// allowed, because authors who don't know YAML may mean ` #` as text, and the rest of the line
    /// would be lost.
    pub fn allow_trailing_comments(mut self) -> Self {
        self.rules.allows_trailing_comments = true;
        self
    }

    /// Checks a text.
    ///
    /// # Errors
    ///
    /// Returns the first construct that is refused.
    pub fn check(&self, text: &str) -> Result<(), YamlRefusal> {
        if let Some((offset, _)) = text.char_indices().find(|(_, c)| !is_allowed(*c)) {
            return Err(YamlRefusal {
                offset,
                reason: Refused::Control,
            });
        }

        let mut scan = Scan::new(self.rules);
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

fn is_allowed(c: char) -> bool {
    c == '\t' || is_break(c) || !(c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}'))
}
