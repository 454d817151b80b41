//! Finds the parts of a reply that may be the value.
//!
//! 1. Thinking in `<think>` tags is skipped.
//! 2. A reply that is JSON from its beginning to its end is the value.
//! 3. Otherwise, the candidates are the fenced blocks with JSON or YAML.
//! 4. Without such a block, they are the objects and lists of JSON in the text, or the YAML from the
//!    first line that begins with a key of the value.
//!
//! The last candidate is preferred, because a model that starts over has abandoned what it wrote
//! before.

use cogwork_ask::{Cut, FenceKeys, FencedBlock, MendedJson, Repair, RepairKind, fenced_blocks};
use cogwork_llm::split_thinking;

use super::tree::{Node, Tree};
use super::yaml;

/// The maximum number of objects and lists in prose that are tried.
const MAX_TRIED: usize = 8;

/// The doubt about an object that is the value of a key outside of any object.
const PART: &str = "the object is part of another one, whose beginning is missing";

const TOO_DEEP: &str = "the JSON is nested too deeply";

/// The doubt about an object that is followed by more keys or items.
const CONTINUED: &str = "the brackets are closed before the end";

/// A part of the reply that may be the value.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) source: Source,
    pub(crate) line: usize,
    pub(crate) repairs: Vec<Repair>,
    /// A correction that may have changed the meaning.
    pub(crate) doubt: Option<String>,
    /// How the reply ends inside the value.
    pub(crate) cut: Option<Cut>,
    /// Whether a list begins before the value or ends after it.
    pub(crate) is_in_list: bool,
}

#[derive(Debug, Clone)]
pub(crate) enum Source {
    Value(Tree),
    /// A text that isn't valid YAML, with the problem.
    Malformed(String),
}

/// What the value looks like.
pub(crate) struct Wanted<F> {
    /// Recognizes the keys of the value.
    pub(crate) is_key: F,
    /// Whether the value may be a list.
    pub(crate) is_list: bool,
}

impl<F: Fn(&str) -> bool> Wanted<F> {
    /// Returns whether YAML of the value may begin with a line.
    fn begins(&self, line: &str) -> bool {
        let is_item = self.is_list && line.starts_with("- ");
        is_item || key_of(line).is_some_and(&self.is_key)
    }
}

/// Returns the parts of a reply that may be the value, in order.
pub(crate) fn candidates(text: &str, wanted: &Wanted<impl Fn(&str) -> bool>) -> Vec<Candidate> {
    let part = Part::answer(text);

    if let Some(whole) = part.whole() {
        return vec![whole];
    }

    let fenced = fenced_blocks(part.text, wanted);
    let mut blocks: Vec<Candidate> = fenced
        .iter()
        .filter(|block| block.is_reply)
        .flat_map(|block| part.inside(block, wanted))
        .collect();

    if blocks.is_empty() {
        blocks = part.outside_fences(wanted);
    }
    blocks
}

impl<F: Fn(&str) -> bool> FenceKeys for Wanted<F> {
    fn begins_with_key(&self, text: &str) -> bool {
        text.starts_with(['{', '[']) || self.begins(text)
    }

    fn ends_with_value(&self, line: &str) -> bool {
        line.ends_with(['}', ']'])
    }
}

/// Returns the key at the beginning of a line of YAML.
fn key_of(line: &str) -> Option<&str> {
    let (key, rest) = line.split_once(':')?;
    let is_key = key.len() < 100 && (rest.is_empty() || rest.starts_with(char::is_whitespace));

    is_key.then(|| key.trim().trim_matches(['"', '\'', '*', '`']))
}

/// A part of a reply, with its first line in the reply.
#[derive(Clone, Copy)]
struct Part<'t> {
    text: &'t str,
    line: usize,
    /// How many bytes of its first line precede it.
    column: usize,
}

impl<'t> Part<'t> {
    /// Returns the part after the thinking.
    fn answer(text: &'t str) -> Self {
        let answer = match split_thinking(text) {
            Some(split) if split.is_opened => split.answer,
            // Without the opening tag, the closing tag may be part of a text.
            Some(split) if !split.thinking.contains('{') => split.answer,
            _ => text,
        };
        let answer = answer.trim_start_matches('\u{feff}');

        let whole = Self {
            text,
            line: 1,
            column: 0,
        };
        whole.skipping(text.len() - answer.len())
    }

    fn skipping(self, offset: usize) -> Self {
        let before = self.text.get(..offset).unwrap_or_default();
        let line_start = before.rfind('\n').map(|end| end + 1);

        Self {
            text: self.text.get(offset..).unwrap_or_default(),
            line: self.line + before.matches('\n').count(),
            column: match line_start {
                Some(start) => before.len() - start,
                None => self.column + before.len(),
            },
        }
    }

    /// Reads a text that is JSON from its beginning to its end.
    fn whole(self) -> Option<Candidate> {
        let trimmed = self.text.trim();
        let start = self.text.len() - self.text.trim_start().len();
        let part = self.skipping(start);

        if serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
            let tree = Tree::of_json(trimmed, part.line)?;
            return Some(Candidate::value(tree));
        }
        if !trimmed.starts_with(['{', '[']) {
            return None;
        }

        let mended = MendedJson::read_at(trimmed, part.line, part.column)?;
        let is_whole = mended.length() == trimmed.len();
        if is_whole {
            Candidate::mended(&mended)
        } else {
            None
        }
    }

    /// Returns the values in a fenced block.
    fn inside(
        self,
        block: &FencedBlock<'t>,
        wanted: &Wanted<impl Fn(&str) -> bool>,
    ) -> Vec<Candidate> {
        let part = Self {
            text: block.text,
            ..self.skipping(block.offset)
        };

        if let Some(whole) = part.whole() {
            return vec![whole];
        }
        if block.text.trim_start().starts_with(['{', '[']) {
            return part.objects();
        }

        let mut found = part.outside_fences(wanted);
        for candidate in &mut found {
            let is_yaml = !block.text.contains(['{', '[']);
            if block.is_open && is_yaml {
                candidate.cut = Some(Cut::InsideValue);
            }
        }
        found
    }

    /// Returns the values in a text without fences: YAML, if it begins before any bracket, or JSON.
    fn outside_fences(self, wanted: &Wanted<impl Fn(&str) -> bool>) -> Vec<Candidate> {
        match (self.yaml_start(wanted), self.text.find(['{', '['])) {
            (Some(start), bracket) if bracket.is_none_or(|bracket| start < bracket) => {
                vec![self.skipping(start).yaml()]
            }
            _ => self.objects(),
        }
    }

    /// Returns the objects and lists of JSON.
    fn objects(self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut rest = self;
        let mut before = "";

        for _ in 0..MAX_TRIED {
            let Some(bracket) = rest.text.find(['{', '[']) else {
                break;
            };
            before = if bracket > 0 {
                rest.text.get(..bracket).unwrap_or_default()
            } else {
                before
            };
            rest = rest.skipping(bracket);

            if is_prose(rest.text) {
                before = "";
                rest = rest.skipping(1);
                continue;
            }

            // What follows belongs to the value whose brackets are wrong.
            let mended = MendedJson::read_at(rest.text, rest.line, rest.column);
            let candidate = mended.as_ref().and_then(Candidate::mended);
            let (Some(mended), Some(mut candidate)) = (mended, candidate) else {
                found.push(Candidate::malformed(rest.line, TOO_DEEP));
                break;
            };

            // The brace of the object around it may be missing.
            let follows_key =
                before.trim_end().ends_with("\":") || before.trim_end().ends_with("':");
            if follows_key {
                candidate.doubt.get_or_insert(PART.to_owned());
            }
            before = "";

            let after = rest.text.get(mended.length()..).unwrap_or_default();
            let all_before = self.text.len() - rest.text.len();
            let all_before = self.text.get(..all_before).unwrap_or_default();
            candidate.is_in_list = has_end_of_list(all_before) || has_end_of_list(after);

            // Quotes at wrong places may show brackets of a text as those of the value.
            let has_repairs = !candidate.repairs.is_empty();
            let is_doubtful = has_repairs && after.starts_with(['{', '[', '\\']);

            if is_doubtful || goes_on(after) {
                candidate.doubt.get_or_insert(CONTINUED.to_owned());
            }

            let is_broken = candidate.cut.is_some() || candidate.doubt.is_some();
            found.push(candidate);
            if is_broken {
                break;
            }
            rest = rest.skipping(mended.length());
        }

        found
    }

    /// Returns the offset of the first line with which YAML of the value may begin.
    fn yaml_start(self, wanted: &Wanted<impl Fn(&str) -> bool>) -> Option<usize> {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            let after = self.text.get(offset + line.len()..).unwrap_or_default();
            if wanted.begins(line) && !introduces_json(line, after) {
                return Some(offset);
            }
            offset += line.len();
        }
        None
    }

    fn yaml(self) -> Candidate {
        match yaml::read(self.text, self.line) {
            Ok(tree) => Candidate {
                repairs: vec![Repair::new(
                    RepairKind::Form,
                    self.line,
                    "read YAML in place of JSON",
                )],
                ..Candidate::value(tree)
            },
            Err((line, problem)) => Candidate::malformed(line, problem),
        }
    }
}

/// Returns whether a line such as "Here it is:" comes before JSON. In YAML, the value of a key would
/// be indented.
fn introduces_json(line: &str, after: &str) -> bool {
    line.trim_end().ends_with(':')
        && after
            .trim_start_matches(['\r', '\n'])
            .starts_with(['{', '['])
}

/// Returns whether the text after a value is the rest of it: more keys or items, or closing
/// brackets that nothing opens.
fn goes_on(after: &str) -> bool {
    let after = after.trim_start();
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
    let is_quoted = inside.starts_with(['"', '\'', '“', '}', ']', '{', '[']);
    if is_quoted {
        return false;
    }

    if text.starts_with('[') {
        let is_literal = ["true", "false", "null"]
            .iter()
            .any(|word| inside.starts_with(word));
        return !is_literal && !inside.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    }

    let word = inside.find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '-')));
    let after = inside
        .get(word.unwrap_or(inside.len())..)
        .unwrap_or_default();
    word == Some(0) || !after.trim_start().starts_with(':')
}

impl Candidate {
    /// Returns the keys of an object.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> + Clone {
        let entries = match &self.source {
            Source::Value(tree) => match &tree.node {
                Node::Object(entries) => entries.as_slice(),
                _ => &[],
            },
            Source::Malformed(_) => &[],
        };
        entries.iter().map(|(key, _)| key.as_str())
    }

    pub(crate) fn value(tree: Tree) -> Self {
        Self {
            line: tree.line,
            source: Source::Value(tree),
            repairs: Vec::new(),
            doubt: None,
            cut: None,
            is_in_list: false,
        }
    }

    fn malformed(line: usize, problem: impl Into<String>) -> Self {
        Self {
            source: Source::Malformed(problem.into()),
            line,
            repairs: Vec::new(),
            doubt: None,
            cut: None,
            is_in_list: false,
        }
    }

    fn mended(mended: &MendedJson) -> Option<Self> {
        let tree = Tree::of_mended(mended)?;
        Some(Self {
            repairs: mended.repairs().to_vec(),
            doubt: mended.doubt().map(str::to_owned),
            cut: mended.cut(),
            ..Self::value(tree)
        })
    }
}
