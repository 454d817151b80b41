//! Finds the parts of a reply that may be the value.
//!
//! 1. Thinking in `<think>` tags is skipped.
//! 2. A reply that is JSON from its beginning to its end is the value.
//! 3. Otherwise, the candidates are in the fenced blocks with JSON or YAML.
//! 4. Without such a block, they are the YAML from the first line that begins with a key of the value,
//!    and the objects and lists of JSON in the text after it.

use crate::ask::RepairKind;
use crate::fenced::{FencedBlock, fenced_blocks};
use cogwork_llm::backend::{SplitThinking, split_thinking};

use crate::shape::{Form, Words};
use crate::syntax::Parsed;
use crate::syntax::json;
use crate::syntax::lines;
use crate::syntax::yaml::{self, key_of};
use crate::tree::{Node, Tree};

/// The maximum number of values in a text. Each is found in a time that is proportional to the length
/// of the text. A search finds one more, so that no later value is left out without a word.
pub(crate) const MAX_FOUND: usize = 32;

/// Returns the parts of a reply that may be the value, in order.
pub(crate) fn candidates(text: &str, words: &Words) -> Vec<Parsed> {
    // A draft in the thinking looks like the value, so that it is left out before the search.
    let part = Passage::answer(text, words);
    if let Some(whole) = part.whole() {
        return vec![whole];
    }

    let blocks = fenced_blocks(part.text);
    let inside = blocks.iter().flat_map(|block| part.inside(block, words));
    let mut found: Vec<Parsed> = inside.collect();
    // A model that uses fences puts its answer in one, and examples outside of them.
    if found.is_empty() {
        return part.search(words, None);
    }

    if let Some(line) = part.object_outside(&blocks, words) {
        let what = "left out an object outside of the fence";
        for candidate in &mut found {
            candidate.notes.repair(RepairKind::Prose, line, what);
        }
    }
    found
}

/// Returns the lines of `key: value` of a reply, or `None` if it has none.
pub(crate) fn lines(text: &str, form: &Form) -> Option<Parsed> {
    let part = Passage::said(text);
    lines::read(part.text, part.line, form)
}

/// Returns a reply without the thinking before it, which may lack its opening tag.
pub fn without_thinking(text: &str) -> &str {
    Passage::said(text).text
}

/// Returns the text of a reply without the thinking before it, and its first line.
pub(crate) fn said(text: &str) -> (&str, usize) {
    let part = Passage::said(text);
    (part.text, part.line)
}

impl Words {
    /// Returns whether a value in brackets may be the one that is expected.
    fn may_mean(&self, tree: &Tree) -> bool {
        let has_root = |tree: &Tree| tree.entries().iter().any(|(key, _)| self.is_root(key));
        let only = match (tree.items(), tree.entries()) {
            ([only], _) | (_, [(_, only)]) => Some(only),
            _ => None,
        };
        self.is_list || self.is_open || has_root(tree) || only.is_some_and(has_root)
    }

    /// Returns whether YAML of the value may begin with a line.
    pub(crate) fn begins(&self, line: &str) -> bool {
        let is_item = self.is_list && line.starts_with("- ");
        is_item || key_of(line.trim_end()).is_some_and(|(key, _)| self.is_root(&key))
    }
}

/// A passage of a reply, with its first line in the reply.
#[derive(Clone, Copy)]
struct Passage<'t> {
    text: &'t str,
    line: usize,
}

impl<'t> Passage<'t> {
    /// Returns the part after the thinking.
    fn answer(text: &'t str, words: &Words) -> Self {
        Self::after_thinking(text, |split| ends_thinking(split.thinking, words))
    }

    /// Returns the part after the thinking, which may lack its opening tag.
    fn said(text: &'t str) -> Self {
        Self::after_thinking(text, |split| !split.answer.trim().is_empty()).trimmed()
    }

    /// Returns the part after the thinking. If its opening tag is missing, `ends` tells whether the
    /// closing one ends it.
    fn after_thinking(text: &'t str, ends: impl Fn(&SplitThinking<'t>) -> bool) -> Self {
        let split = split_thinking(text).filter(|split| split.is_opened || ends(split));
        let answer = split.map_or(text, |split| split.answer);
        let answer = answer.trim_start_matches('\u{feff}');

        let whole = Self { text, line: 1 };
        whole.skipping(text.len() - answer.len())
    }

    fn trimmed(self) -> Self {
        let part = self.skipping(self.text.len() - self.text.trim_start().len());
        Self {
            text: part.text.trim_end(),
            ..part
        }
    }

    fn skipping(self, offset: usize) -> Self {
        let (before, text) = self
            .text
            .split_at_checked(offset)
            .unwrap_or((self.text, ""));
        Self {
            text,
            line: self.line + before.matches('\n').count(),
        }
    }

    /// Returns the line of an object with a key of the value that is left out because the value is in
    /// fenced blocks.
    fn object_outside(self, blocks: &[FencedBlock<'t>], words: &Words) -> Option<usize> {
        let is_inside = |at: usize| {
            let later = blocks.partition_point(|block| block.offset <= at);
            let last = blocks.get(..later).and_then(<[_]>::last);
            last.is_some_and(|block| at < block.offset + block.text.len())
        };
        let mut brackets = self.text.match_indices('{').map(|(at, _)| at);
        // One object is enough for a report, and reading each would take quadratic time.
        let first = brackets.find(|at| !is_inside(*at) && !is_prose(self.after(*at)))?;

        let object = self.skipping(first);
        let read = json::read(object.text, object.line);
        let mut keys = read.tree.entries().iter();
        let is_value = keys.any(|(key, _)| words.is_root(key));
        is_value.then_some(object.line)
    }

    fn after(self, offset: usize) -> &'t str {
        self.text.get(offset..).unwrap_or_default()
    }

    fn up_to(self, offset: usize) -> &'t str {
        self.text.get(..offset).unwrap_or_default()
    }

    /// Reads a text that is JSON from its beginning to its end.
    fn whole(self) -> Option<Parsed> {
        let part = self.trimmed();
        let text = part.text;
        let is_nested = text.starts_with(['{', '[']);
        // Objects and lists are read by the tolerant reader, which knows the lines.
        let is_json = is_nested || serde_json::from_str::<serde::de::IgnoredAny>(text).is_ok();
        if !is_json {
            return None;
        }

        // A number at the end of a text might be incomplete.
        let parsed = if is_nested {
            json::read(text, part.line)
        } else {
            json::read(&format!("{text}\n"), part.line)
        };
        let is_whole = parsed.end >= text.len() && parsed.notes.doubt.is_none();
        is_whole.then_some(parsed)
    }

    /// Returns the values in a fenced block.
    fn inside(self, block: &FencedBlock<'t>, words: &Words) -> Vec<Parsed> {
        let part = Self {
            text: block.text,
            line: self.line + block.line,
        };
        part.whole().map_or_else(
            || part.search(words, Some(block.is_open)),
            |whole| vec![whole],
        )
    }

    /// Returns the values in a text, which may be a fenced block that is open or not: one in YAML, and
    /// those in brackets after it.
    fn search(self, words: &Words, fence: Option<bool>) -> Vec<Parsed> {
        let mut found: Vec<Parsed> = self.yaml(words, fence).into_iter().collect();
        // What follows belongs to the value whose end is missing.
        let mut is_last = found.iter().any(Parsed::is_broken);
        let mut at = found.first().map_or(0, |yaml| yaml.end);

        while !is_last && let Some(bracket) = self.skipping(at).value_start(None, words) {
            let start = at + bracket;
            let mut candidate = self.json(start, at, words, fence.is_some());
            candidate.is_surplus = found.len() == MAX_FOUND;
            is_last = candidate.is_broken() || candidate.is_surplus;
            at = start + candidate.end;
            found.push(candidate);
        }

        let left = self.skipping(at);
        if let Some(last) = found.last_mut().filter(|last| !last.is_yaml)
            && let Some(start) = left.yaml_start(words)
        {
            let lines = left.skipping(start);
            // Prose about a value begins with a capital letter, as in `Note: …`.
            if lines.text.starts_with(char::is_lowercase) && !words.is_open {
                last.notes.doubt(lines.line, "keys follow the value");
            }
            let what = "left out the text after the value";
            last.notes.repair(RepairKind::Prose, lines.line, what);
        }
        found
    }

    /// Returns the offset of the first bracket whose value may be meant, up to where YAML begins.
    /// Without one, the last other value is shown in the complaint.
    fn value_start(self, yaml: Option<usize>, words: &Words) -> Option<usize> {
        let mut at = 0;
        let mut part = self;
        let mut other = None;
        let mut has_passed_list = false;

        // Text may have many values such as `[1]`, so that they are passed before any is judged.
        while let Some(bracket) = part.bracket() {
            at += bracket;
            part = part.skipping(bracket);
            if yaml.is_some_and(|yaml| yaml <= at) {
                return Some(at);
            }

            let read = json::read(part.text, part.line);
            let is_list = matches!(read.tree.node, Node::List(_)) && !words.is_list;
            let passed = match read.is_broken() {
                false if words.may_mean(&read.tree) => return Some(at),
                false => read.end,
                // The list is prose, as in `[0, 5)`, and the object begins in what it includes.
                // Passing one after the other would take quadratic time.
                true if is_list && !has_passed_list => {
                    has_passed_list = true;
                    part.text.find('{').unwrap_or(part.text.len())
                }
                true => return Some(at),
            };

            other = Some(at);
            at += passed;
            part = part.skipping(passed);
        }
        other.filter(|_| yaml.is_none())
    }

    /// Returns the offset of the first bracket that begins a value.
    fn bracket(self) -> Option<usize> {
        let mut brackets = self.text.match_indices(['{', '[']).map(|(at, _)| at);
        brackets.find(|at| !is_prose(self.after(*at)))
    }

    /// Returns the offset of the first line with which YAML of the value may begin.
    fn yaml_start(self, words: &Words) -> Option<usize> {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            let after = self.after(offset + line.len());
            if words.begins(line) && !introduces_json(line, after) {
                return Some(offset);
            }
            offset += line.len();
        }
        None
    }

    /// Reads the YAML in a text, unless a value in brackets comes before it.
    fn yaml(self, words: &Words, fence: Option<bool>) -> Option<Parsed> {
        // Where any key may be one of the value, a sentence with a colon looks like one.
        let may_be_yaml = fence.is_some() || !words.is_open;
        let start = self.yaml_start(words).filter(|_| may_be_yaml)?;
        let bracket = self.value_start(Some(start), words);
        if bracket.is_some_and(|bracket| bracket < start) {
            return None;
        }

        let part = self.skipping(start);
        let mut parsed = yaml::read(part.text, part.line, words, fence == Some(true));
        // The brackets of JSON show its end, while YAML may go on after any line.
        parsed.is_closed = fence == Some(false);

        // Where any key may be one of the value, its beginning may be in the text that is left out.
        let is_vague = fence.is_some() || words.has_others || words.is_list;
        if is_vague && !self.up_to(start).trim().is_empty() {
            let what = "left out the text before the value";
            parsed.notes.repair(RepairKind::Prose, self.line, what);
        }

        let after = part.skipping(parsed.end);
        if !after.text.trim().is_empty() {
            let what = "left out the text after the value";
            parsed.notes.repair(RepairKind::Prose, after.line, what);
        }
        let until_bracket = after.up_to(after.bracket().unwrap_or(after.text.len()));
        if until_bracket.lines().any(|line| words.begins(line)) {
            parsed.notes.doubt(after.line, "keys follow other text");
        }

        parsed.end += start;
        Some(parsed)
    }

    /// Reads the JSON at an offset, and judges it by what is around it.
    fn json(self, start: usize, before: usize, words: &Words, is_framed: bool) -> Parsed {
        let part = self.skipping(start);
        let mut parsed = json::read(part.text, part.line);
        let after = part.after(parsed.end);
        let text_before = self.text.get(before..start).unwrap_or_default();
        let line_before = text_before.rsplit('\n').next().unwrap_or_default();

        let notes = &mut parsed.notes;
        // Models write `[]` and `{}` in sentences, too.
        let is_empty = matches!(&parsed.tree.node, Node::List(items) if items.is_empty())
            || parsed.tree.is_empty_object();
        let is_after_prose = !is_framed && !text_before.trim().is_empty();
        if is_value_of_key(line_before, words) || (is_empty && is_after_prose) {
            notes.doubt(part.line, "it may be a part of another value");
        }

        // Quotes at wrong places may show brackets of a text as those of the value.
        let has_repairs = !notes.repairs.is_empty();
        let is_doubtful = has_repairs && after.starts_with(['{', '[', '\\']);
        if is_doubtful || goes_on(after) {
            notes.doubt(part.line, "the brackets are closed before the end");
        }
        let is_around = is_after_prose || !after.trim().is_empty();
        if words.is_open && !is_framed && is_around {
            notes.repair(
                RepairKind::Prose,
                part.line,
                "took the value out of other text",
            );
        }

        parsed.is_in_list = has_end_of_list(self.up_to(start)) || has_end_of_list(after);
        parsed
    }
}

/// Returns whether a closing tag without an opening one ends the thinking, rather than being a part
/// of a text of the value.
fn ends_thinking(thinking: &str, words: &Words) -> bool {
    let line = thinking.rsplit('\n').next().unwrap_or_default().trim();
    // A text of the value may quote the tag.
    let is_quoted = line.contains(['"', '\'']) || line.starts_with("- ");
    let has_begun = !words.is_open && thinking.lines().any(|line| words.begins(line));
    !is_quoted && !has_begun && !words.begins(line)
}

/// Returns whether a line such as "Here it is:" comes before JSON. In YAML, the value of a key would
/// be indented.
fn introduces_json(line: &str, after: &str) -> bool {
    line.trim_end().ends_with(':')
        && after
            .trim_start_matches(['\r', '\n'])
            .starts_with(['{', '['])
}

/// Returns whether a bracket after this text begins the value of a key, so that the object around it
/// is incomplete.
fn is_value_of_key(before: &str, words: &Words) -> bool {
    let Some(key) = before.trim_end().strip_suffix(':') else {
        return false;
    };
    let key = key.trim();
    // No sentence before a value ends with a quote and a colon.
    if key.ends_with(['"', '\'']) {
        return true;
    }

    let is_name = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    let is_identifier = !key.is_empty() && key.bytes().all(is_name);
    is_identifier || words.is_known(key)
}

/// Returns whether the text after a value is the rest of it: more keys or items, or closing
/// brackets that nothing opens.
fn goes_on(after: &str) -> bool {
    let after = after.trim_start();
    // Another block has brackets of its own.
    let until_fence = after.split("```").next().unwrap_or_default();

    let opened = until_fence.matches(['{', '[']).count();
    let closed = until_fence.matches(['}', ']']).count();
    let is_only_closing = until_fence.trim_end().trim_matches(['}', ']']).is_empty();

    let closes_more = closed > opened && !is_only_closing;
    after.starts_with([',', ':', '"']) || closes_more
}

/// Returns whether a list begins in a text and doesn't end there, or the other way around.
fn has_end_of_list(text: &str) -> bool {
    text.matches('[').count() != text.matches(']').count()
}

/// Returns whether a bracket doesn't begin a value, as in `{see below}`.
fn is_prose(text: &str) -> bool {
    let inside = text.get(1..).unwrap_or_default().trim_start();
    // The offset is that of a bracket, which has one byte.
    let is_quoted = inside.starts_with(['"', '\'', '“', '}', ']', '{', '[']);
    let mut comments = ["//", "# "].iter();
    if is_quoted || comments.any(|comment| inside.starts_with(comment)) {
        return false;
    }

    if text.starts_with('[') {
        let is_literal = ["true", "false", "null"]
            .iter()
            .any(|word| inside.starts_with(word));
        // An integer has at most 20 characters.
        let beginning = inside.chars().take(21);
        let number: String = beginning
            .take_while(|c| !matches!(c, ',' | ']' | '.' | ' ' | '\n'))
            .collect();
        return !is_literal && number.parse::<i64>().is_err();
    }

    let word = inside.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    let after = inside
        .get(word.unwrap_or(inside.len())..)
        .unwrap_or_default();
    word == Some(0) || !after.trim_start().starts_with(':')
}
