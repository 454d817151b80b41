//! Finds the fenced blocks of a reply.

use crate::ask::is_reply_fence;

/// Recognizes the keys of a reply, where the text around a fence doesn't follow Markdown.
pub trait FenceKeys {
    /// Returns whether a text begins with a key of a reply. Such a text may directly follow the
    /// opening fence, on its line.
    fn begins_with_key(&self, text: &str) -> bool;

    /// Returns whether a line ends with the last value of a reply, so that the fence may directly
    /// follow it.
    fn ends_with_value(&self, line: &str) -> bool;
}

/// A fenced block of a reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FencedBlock<'t> {
    /// The text between the fences.
    pub text: &'t str,
    /// The offset of the text in the reply.
    pub offset: usize,
    /// Whether the closing fence is missing.
    pub is_open: bool,
    /// Whether the label of the fence is missing or allows YAML or JSON.
    pub is_reply: bool,
}

/// Returns the fenced blocks that aren't blank, in order.
///
/// A fence is closed by a line that has at least as many backticks as the opening fence and isn't
/// indented further. A fence that is indented further, such as one inside a block scalar, is text.
/// A fence that is never closed extends to the end of the text. The same rules apply to fences of
/// tildes.
pub fn fenced_blocks<'t>(text: &'t str, keys: &impl FenceKeys) -> Vec<FencedBlock<'t>> {
    let mut blocks = Vec::new();
    let mut open: Option<Open> = None;
    let mut offset = 0;

    for line in text.split_inclusive('\n') {
        match &open {
            None => open = Open::begins(line, offset, keys),
            Some(fence) => {
                if let Some(to) = fence.ends(line, keys) {
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
    wanted: bool,
    from: usize,
}

impl Open {
    /// Returns the fence that a line opens. If its label is a known one, text may precede the
    /// fence, and the reply may begin directly after the label.
    fn begins(line: &str, offset: usize, keys: &impl FenceKeys) -> Option<Self> {
        let (at, sign) = match (line.find("```"), line.find("~~~")) {
            (Some(at), None) => (at, '`'),
            (None, Some(at)) => (at, '~'),
            (Some(ticks), Some(tildes)) if tildes < ticks => (tildes, '~'),
            (Some(ticks), Some(_)) => (ticks, '`'),
            (None, None) => return None,
        };

        let (before, rest) = line.split_at_checked(at)?;
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
        let known = is_reply_fence(word);
        let blank = behind.trim_matches(is_blank).is_empty();
        let key_at = [label.trim_start(), behind.trim_start()]
            .into_iter()
            .find(|rest| keys.begins_with_key(rest));
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
    fn ends(&self, line: &str, keys: &impl FenceKeys) -> Option<usize> {
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

        let ends = keys.ends_with_value(before)
            || (before.starts_with('}') && !before.contains(self.sign));

        ends.then(|| line.find(before).unwrap_or(0) + before.len())
    }

    fn block<'t>(&self, text: &'t str, to: usize, is_open: bool) -> Option<FencedBlock<'t>> {
        let part = text.get(self.from..to)?;

        let text = part.trim_start_matches(BYTE_ORDER_MARK);
        let offset = self.from + part.len() - text.len();

        (!text.trim().is_empty()).then_some(FencedBlock {
            text,
            offset,
            is_open,
            is_reply: self.wanted,
        })
    }
}
