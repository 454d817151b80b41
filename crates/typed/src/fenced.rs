//! Finds the fenced blocks of a reply.

use crate::shape::Words;
use crate::syntax::yaml::key_of;

/// The labels of fences that may contain a reply. Others, such as `python`, contain code.
const LABELS: [&str; 11] = [
    "",
    "yaml",
    "yml",
    "json",
    "jsonc",
    "json5",
    "text",
    "txt",
    "plaintext",
    "markdown",
    "md",
];

/// A fenced block of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FencedBlock<'t> {
    /// The text between the fences.
    pub(crate) text: &'t str,
    /// The offset of the text in the reply.
    pub(crate) offset: usize,
    /// Whether the closing fence is missing.
    pub(crate) is_open: bool,
}

/// Returns the fenced blocks that aren't blank and may contain a reply, in order.
///
/// A fence is closed by a line that has at least as many backticks as the opening fence and isn't
/// indented further. A fence that is indented further, such as one inside a block scalar, is text.
/// A fence that is never closed extends to the end of the text. The same rules apply to fences of
/// tildes.
pub(crate) fn fenced_blocks<'t>(text: &'t str, words: &Words) -> Vec<FencedBlock<'t>> {
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    let mut offset = 0;

    for line in text.split_inclusive('\n') {
        match &open {
            None => open = Open::begins(line, offset, words),
            Some(fence) => {
                if let Some(to) = fence.ends(line, words) {
                    blocks.extend(fence.block(text, offset + to, false));
                    open = None;
                }
            }
        }

        offset += line.len();
    }

    blocks.extend(open.and_then(|fence| fence.block(text, text.len(), true)));
    blocks
}

/// Returns whether a character is whitespace or a byte order mark, which may precede the first
/// fence.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == BYTE_ORDER_MARK
}

const BYTE_ORDER_MARK: char = '\u{feff}';

struct Open {
    indent: usize,
    sign: char,
    ticks: usize,
    /// Whether the label is missing or allows YAML or JSON.
    wanted: bool,
    from: usize,
}

impl Open {
    /// Returns the fence that a line opens. If its label is a known one, text may precede the
    /// fence, and the reply may begin directly after the label.
    fn begins(line: &str, offset: usize, words: &Words) -> Option<Self> {
        let fences = [line.find("```"), line.find("~~~")];
        let at = fences.into_iter().flatten().min()?;
        let (before, rest) = line.split_at_checked(at)?;
        let sign = rest.chars().next()?;
        let label = rest.trim_start_matches(sign);
        let ticks = rest.len() - label.len();

        let is_in_quotes = before.matches('"').count() % 2 == 1;
        if label.contains(sign) || is_in_quotes {
            return None;
        }

        let glued = !before.trim_matches(is_blank).is_empty();
        let word = label
            .trim_start()
            .split(|c: char| !c.is_alphanumeric())
            .next()
            .unwrap_or_default();

        let behind = label.trim_start().strip_prefix(word).unwrap_or_default();
        let known = LABELS.iter().any(|known| known.eq_ignore_ascii_case(word));
        let blank = behind.trim_matches(is_blank).is_empty();
        let key_at = [label.trim_start(), behind.trim_start()]
            .into_iter()
            .find(|rest| begins_with_key(rest, words));
        let fence = |wanted, behind: usize| Self {
            indent: if glued { 0 } else { before.chars().count() },
            sign,
            ticks,
            wanted,
            from: offset + line.len() - behind,
        };

        match key_at {
            Some(rest) => Some(fence(true, rest.len())),
            None if glued => (known && !word.is_empty() && blank).then(|| fence(true, 0)),
            None => Some(fence(known && blank, 0)),
        }
    }

    /// Returns where in a line the block ends: before a fence on its own line, or after the value
    /// of the last key if the fence directly follows it.
    fn ends(&self, line: &str, words: &Words) -> Option<usize> {
        let content = line.trim_end_matches(is_blank);
        if !content.ends_with(self.sign) {
            return None;
        }

        let content = content.trim_start_matches(is_blank);
        let before = content.trim_end_matches(self.sign);
        if content.len() - before.len() < self.ticks {
            return None;
        } else if before.is_empty() {
            let indent = line.chars().take_while(|c| is_blank(*c)).count();
            return (indent <= self.indent).then_some(0);
        }

        let ends = ends_with_value(before, words)
            || (before.starts_with('}') && !before.contains(self.sign));

        ends.then(|| line.find(before).unwrap_or(0) + before.len())
    }

    fn block<'t>(&self, text: &'t str, to: usize, is_open: bool) -> Option<FencedBlock<'t>> {
        let part = text.get(self.from..to)?;

        let text = part.trim_start_matches(BYTE_ORDER_MARK);
        let offset = self.from + part.len() - text.len();

        (self.wanted && !text.trim().is_empty()).then_some(FencedBlock {
            text,
            offset,
            is_open,
        })
    }
}

/// Returns whether a text begins with a key of the value. Such a text may directly follow the
/// opening fence, on its line.
fn begins_with_key(text: &str, words: &Words) -> bool {
    text.starts_with(['{', '[']) || words.begins(text)
}

/// Returns whether a line ends with the last value of a reply, so that the fence may directly follow
/// it.
fn ends_with_value(line: &str, words: &Words) -> bool {
    let literal = key_of(line)
        .filter(|(key, _)| words.is_root(key))
        .map(|(_, value)| matches!(value, "true" | "false" | "null"));
    let is_json = line.starts_with(['{', '[', '}', ']', '"']);
    (is_json && line.ends_with(['}', ']'])) || literal == Some(true)
}
