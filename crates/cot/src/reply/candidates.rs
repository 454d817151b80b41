//! Finds the parts of a raw text that may be the reply.
//!
//! The rules are applied in this order:
//!
//! 1. Thinking in `<think>` tags is skipped. If the opening tag is missing, it is skipped only if
//!    all keys of a reply follow the closing tag.
//! 2. The candidates are the fenced blocks in which a line begins with a key of a reply. Without
//!    such a block, the candidate is the text from the first line that begins with a key, or from a
//!    bracket directly before a key. Prose that merely mentions a key is ignored.
//! 3. If there are several blocks, the last one is used, because a model that starts a second block
//!    has abandoned the first.
//! 4. If a block contains several YAML documents, the last one with all three keys is used.
//! 5. If no line begins with a key, the last fenced block is used, so that the error can describe
//!    it.

use cogwork_llm::split_thinking;
use cogwork_typed::ask::{FenceKeys, FencedBlock, fenced_blocks};

use super::keys::{Key, top_key};

/// A part of the text, its offset, and whether it ends with a closing fence.
#[derive(Debug, Clone, Copy)]
pub(super) struct Block<'t> {
    pub(super) text: &'t str,
    pub(super) offset: usize,
    pub(super) closed: bool,
    /// Whether the fence or a bracket is still open at the end of the text.
    pub(super) open: bool,
}

/// Returns the blocks that may be the reply, the preferred one first.
pub(super) fn candidates(text: &str) -> Vec<Block<'_>> {
    let answer = answer(text);
    let offset = text.len() - answer.len();

    let mut found = in_text(answer);
    found.iter_mut().for_each(|block| block.offset += offset);
    found
}

/// Returns the first part of a text that may be a reply with this key at its top level: a fenced
/// block, a JSON object, or the text from the first line that begins with a key.
pub(super) fn block_with<'t>(text: &'t str, key: &str) -> Option<Block<'t>> {
    let answer = answer(text);
    let offset = text.len() - answer.len();
    let has_key = |block: &Block<'_>| {
        let mut keys = block.text.match_indices(key);
        keys.any(|(at, _)| is_key_at(block.text, at))
    };

    let fenced = fenced(answer).into_iter().filter(|fence| fence.wanted);
    let found = fenced
        .map(|fence| fence.block)
        .find(has_key)
        .or_else(|| bare_object(answer).filter(has_key))
        .or_else(|| from_line_with(answer, key))?;

    Some(Block {
        offset: found.offset + offset,
        ..found
    })
}

/// Returns whether the text at this offset is a key: it begins a line without indentation or
/// follows a bracket or a comma, and a colon follows it.
pub(super) fn is_key_at(text: &str, at: usize) -> bool {
    let Some((before, rest)) = text.split_at_checked(at) else {
        return false;
    };

    let before = before.strip_suffix('"').unwrap_or(before);
    let begins_line = before.is_empty() || before.ends_with('\n');
    let begins = begins_line || before.trim_ascii_end().ends_with(['{', ',']);

    let name_end = rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    let after = rest
        .get(name_end.unwrap_or(rest.len())..)
        .unwrap_or_default();
    let after = after.strip_prefix('"').unwrap_or(after);
    begins && after.trim_ascii_start().starts_with(':')
}

/// Returns the first JSON object outside a fence.
fn bare_object(text: &str) -> Option<Block<'_>> {
    let from = text.find('{')?;
    let end = closing_bracket(text, from)?;
    block(text, from, end, false)
}

/// Returns the text from the first line that begins with `key` or another key of a reply.
fn from_line_with<'t>(text: &'t str, key: &str) -> Option<Block<'t>> {
    let mut first = None;
    let mut has_key = false;
    let mut offset = 0;

    for line in text.split_inclusive('\n') {
        let is_key = line.starts_with(key) && is_key_at(line, 0);
        has_key = has_key || is_key;

        if first.is_none() && (is_key || top_key(line) == Some(Key::Thinking)) {
            first = Some(offset);
        }

        offset += line.len();
    }

    block(text, first.filter(|_| has_key)?, text.len(), false)
}

/// Returns the text without the leading thoughts of a reasoning model.
fn answer(text: &str) -> &str {
    let Some(split) = split_thinking(text) else {
        return text;
    };

    // Without the opening tag, the closing tag may be part of the reply.
    let is_thinking =
        split.is_opened || !names_a_key(split.thinking) && top_keys(split.answer).is_all();
    if is_thinking { split.answer } else { text }
}

fn in_text(text: &str) -> Vec<Block<'_>> {
    let fenced = fenced(text);
    let wanted = || {
        fenced
            .iter()
            .rev()
            .filter(|fence| fence.wanted)
            .map(|fence| fence.block)
    };

    let mut meant: Vec<_> = wanted()
        .filter(|block| names_a_key(block.text))
        .map(document)
        .collect();
    let first = meant.iter().map(|block| block.offset).min();
    if let Some((before, rest)) = first.and_then(|first| text.split_at_checked(first)) {
        // Keys before the first fence, or after an apparent closing fence, also belong to the
        // reply, unless one of the blocks is complete.
        let outside = names_a_key(before)
            || end_of_fences(rest) > meant.iter().map(|block| block.text.len()).sum();
        if outside && !meant.iter().any(|block| top_keys(block.text).is_all()) {
            meant.extend(unfenced(text).filter(|block| block.offset < before.len()));
            let all = block(text, before.len(), before.len() + end_of_fences(rest), true);
            meant.splice(0..0, all.filter(|block| top_keys(block.text).is_all()));
        }

        meant
    } else if fenced.iter().any(|fence| names_a_key(fence.block.text)) {
        // A key inside code is not part of a reply.
        Vec::new()
    } else if let Some(block) = unfenced(text) {
        vec![document(block)]
    } else {
        wanted().take(1).collect()
    }
}

fn unfenced(text: &str) -> Option<Block<'_>> {
    object(text)
        .into_iter()
        .chain(from_first_key(text))
        .min_by_key(|block| block.offset)
}

/// Returns the offset at which a text with an opened fence ends: before the last fence if no key
/// follows it, or else the end of the text.
fn end_of_fences(text: &str) -> usize {
    match text.rfind("\n```") {
        Some(at) if !text.get(at + 1..).is_some_and(names_a_key) => at + 1,
        _ => text.len(),
    }
}

/// Returns whether a line begins with a key. `planning` is ignored, because it is a common word.
fn names_a_key(text: &str) -> bool {
    text.lines()
        .flat_map(beginnings)
        .any(|key| key != Key::Planning)
}

#[derive(Default)]
struct TopKeys {
    thinking: bool,
    planning: bool,
    needed: bool,
}

impl TopKeys {
    fn is_all(&self) -> bool {
        self.thinking && self.planning && self.needed
    }
}

/// Returns the keys at the beginning of a line, or after a bracket or comma in a line of JSON.
fn beginnings(line: &str) -> impl Iterator<Item = Key> {
    let begins = line.trim_start_matches(|c: char| is_blank(c) || c == '{' || c == '[');
    let json = line.contains(['{', ',']) && line.contains('"');
    let pieces = json
        .then(|| line.split([',', '{']).map(str::trim_start))
        .into_iter()
        .flatten();

    std::iter::once(begins).chain(pieces).filter_map(top_key)
}

fn top_keys(text: &str) -> TopKeys {
    let mut keys = TopKeys::default();
    for key in text.lines().flat_map(beginnings) {
        match key {
            Key::Thinking => keys.thinking = true,
            Key::Planning => keys.planning = true,
            _ => keys.needed = true,
        }
    }

    keys
}

/// Returns the first JSON object outside a fence that begins with a key of a reply.
fn object(text: &str) -> Option<Block<'_>> {
    let mut from = 0;

    // Brackets before other text are skipped, so each bracket is visited once.
    while let Some(at) = text.get(from..)?.find('{').map(|at| from + at) {
        let rest = text.get(at + 1..)?;
        let inside = rest.trim_start();

        if top_key(inside).is_some() {
            let end = closing_bracket(text, at);
            return Some(Block {
                open: end.is_none(),
                ..block(text, at, end.unwrap_or(text.len()), false)?
            });
        }

        from = at + 1;
    }

    None
}

/// Returns the offset after the bracket that closes the one at `from`. Only double quotes are
/// recognized as delimiters of strings.
fn closing_bracket(text: &str, from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            _ => {}
        }
    }

    None
}

/// Returns the text from the first line that begins with a key. It ends after the last key if that
/// key is complete on its line.
fn from_first_key(text: &str) -> Option<Block<'_>> {
    if !names_a_key(text) {
        return None;
    }

    let mut first = None;
    let mut end = text.len();
    let mut offset = 0;
    for line in text.split_inclusive('\n') {
        let begins = line.trim_start_matches(is_blank);
        let key = top_key(begins);

        // Prose may begin with "Planning:", so this key is only accepted in lower case.
        if key.is_some() && (key != Some(Key::Planning) || begins.starts_with("planning")) {
            first.get_or_insert(offset);
        }

        if key.is_some() {
            end = if key == Some(Key::Needed) {
                offset + line.len()
            } else {
                text.len()
            };
        }

        offset += line.len();
    }

    block(text, first?, end, false)
}

/// Returns the last YAML document with all three keys, if the block contains several documents.
fn document(block: Block<'_>) -> Block<'_> {
    // A block that begins with a directive is rejected as a whole.
    if block.text.starts_with('%') || !block.text.contains("---") {
        return block;
    }

    let mut starts = vec![0];
    let mut offset = 0;
    for line in block.text.split_inclusive('\n') {
        offset += line.len();
        if line.trim_end() == "---" {
            starts.push(offset);
        }
    }

    let ends = starts
        .iter()
        .skip(1)
        .map(|start| start.saturating_sub(3))
        .chain([offset]);

    let parts = starts.iter().zip(ends).map(|(from, to)| (*from, to));
    let whole = |(from, to): &(usize, usize)| {
        block
            .text
            .get(*from..*to)
            .is_some_and(|text| top_keys(text).is_all())
    };

    // The text ends before the marker line of the next document.
    let part = parts.filter(whole).last().and_then(|(from, to)| {
        let text = block.text.get(from..to)?;
        let text = if to < offset {
            text.get(..text.rfind('\n')? + 1)?
        } else {
            text
        };

        Some(Block {
            text,
            offset: block.offset + from,
            ..block
        })
    });

    part.unwrap_or(block)
}

/// Returns the fenced blocks, in order.
fn fenced(text: &str) -> Vec<Fenced<'_>> {
    let blocks = fenced_blocks(text, &ReplyKeys);
    blocks.into_iter().map(Fenced::from).collect()
}

/// A block, and whether the label of its fence is missing or allows YAML or JSON.
struct Fenced<'t> {
    block: Block<'t>,
    wanted: bool,
}

impl<'t> From<FencedBlock<'t>> for Fenced<'t> {
    fn from(fenced: FencedBlock<'t>) -> Self {
        let block = Block {
            text: fenced.text,
            offset: fenced.offset,
            closed: !fenced.is_open,
            open: fenced.is_open,
        };

        Self {
            block,
            wanted: fenced.is_reply,
        }
    }
}

/// The keys of a reply of the loop.
struct ReplyKeys;

impl FenceKeys for ReplyKeys {
    fn begins_with_key(&self, text: &str) -> bool {
        top_key(text).is_some()
    }

    fn ends_with_value(&self, line: &str) -> bool {
        top_key(line.trim_start_matches('{')) == Some(Key::Needed)
    }
}

/// Returns whether a character is whitespace or a byte order mark, which may precede the first
/// fence.
fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == BYTE_ORDER_MARK
}

const BYTE_ORDER_MARK: char = '\u{feff}';

/// Returns the part of a text between two offsets, without leading byte order marks, or `None` if
/// it is blank.
fn block(text: &str, from: usize, to: usize, closed: bool) -> Option<Block<'_>> {
    let part = text.get(from..to)?;
    let text = part.trim_start_matches(BYTE_ORDER_MARK);
    let offset = from + part.len() - text.len();

    (!text.trim().is_empty()).then_some(Block {
        text,
        offset,
        closed,
        open: false,
    })
}
