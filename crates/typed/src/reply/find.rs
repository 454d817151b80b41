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
use cogwork_read::charge;

use super::tree::Tree;
use super::yaml;

/// The maximum number of objects and lists in prose that are tried.
const MAX_TRIED: usize = 8;

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
}

#[derive(Debug, Clone)]
pub(crate) enum Source {
    Value(Tree),
    /// A text that isn't valid YAML, with the problem.
    Malformed(String),
}

/// Returns the parts of a reply that may be the value, in order. `is_key` recognizes the keys of
/// the value.
pub(crate) fn candidates(text: &str, is_key: &impl Fn(&str) -> bool) -> Vec<Candidate> {
    charge(text.len());
    let part = Part::answer(text);

    if let Some(whole) = part.whole() {
        return vec![whole];
    }

    let keys = Keys(is_key);
    let fenced = fenced_blocks(part.text, &keys);
    let mut blocks: Vec<Candidate> = fenced
        .iter()
        .filter(|block| block.is_reply)
        .flat_map(|block| part.inside(block, is_key))
        .collect();

    if blocks.is_empty() {
        blocks = part.objects();
    }
    if blocks.is_empty() {
        blocks.extend(part.yaml(is_key));
    }
    blocks
}

/// The keys of the value, for the search for fences.
struct Keys<'k, F>(&'k F);

impl<F: Fn(&str) -> bool> FenceKeys for Keys<'_, F> {
    fn begins_with_key(&self, text: &str) -> bool {
        text.starts_with(['{', '[']) || key_of(text).is_some_and(self.0)
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

        Self { text, line: 1 }.from_offset(text.len() - answer.len())
    }

    fn from_offset(self, offset: usize) -> Self {
        let before = self.text.get(..offset).unwrap_or_default();
        Self {
            text: self.text.get(offset..).unwrap_or_default(),
            line: self.line + before.matches('\n').count(),
        }
    }

    /// Reads a text that is JSON from its beginning to its end.
    fn whole(self) -> Option<Candidate> {
        let trimmed = self.text.trim();
        let start = self.text.len() - self.text.trim_start().len();
        let part = self.from_offset(start);

        if serde_json::from_str::<serde::de::IgnoredAny>(trimmed).is_ok() {
            let tree = Tree::of_json(trimmed, part.line)?;
            return Some(Candidate::value(tree));
        }
        if !trimmed.starts_with(['{', '[']) {
            return None;
        }

        let mended = MendedJson::read(trimmed, part.line)?;
        let is_whole = mended.length() == trimmed.len();
        if is_whole {
            Candidate::mended(&mended)
        } else {
            None
        }
    }

    /// Returns the values in a fenced block.
    fn inside(self, block: &FencedBlock<'t>, is_key: &impl Fn(&str) -> bool) -> Vec<Candidate> {
        let part = Self {
            text: block.text,
            line: self.from_offset(block.offset).line,
        };

        if let Some(whole) = part.whole() {
            return vec![whole];
        }
        if block.text.trim_start().starts_with(['{', '[']) {
            return part.objects();
        }

        let yaml = part.yaml(is_key).map(|mut yaml| {
            if block.is_open {
                yaml.cut = Some(Cut::InsideValue);
            }
            yaml
        });
        match yaml {
            Some(yaml) => vec![yaml],
            None => part.objects(),
        }
    }

    /// Returns the objects and lists of JSON.
    fn objects(self) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut rest = self;

        for _ in 0..MAX_TRIED {
            let Some(bracket) = rest.text.find(['{', '[']) else {
                break;
            };
            rest = rest.from_offset(bracket);

            let mended = MendedJson::read(rest.text, rest.line);
            let candidate = mended.as_ref().and_then(Candidate::mended);
            let (Some(mended), Some(candidate)) = (mended, candidate) else {
                rest = rest.from_offset(1);
                continue;
            };

            // What was cut off may be a bracket in prose, with whole objects after it.
            let step = if candidate.cut.is_some() || is_prose(&mended) {
                1
            } else {
                mended.length()
            };
            if !is_prose(&mended) {
                found.push(candidate);
            }
            rest = rest.from_offset(step);
        }

        found
    }

    /// Returns the YAML from the first line that begins with a key, or with an item of a list.
    fn yaml(self, is_key: &impl Fn(&str) -> bool) -> Option<Candidate> {
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            charge(line.len());
            let begins = key_of(line).is_some_and(is_key) || line.starts_with("- ");
            if begins {
                break;
            }
            offset += line.len();
        }

        let part = self.from_offset(offset);
        if part.text.trim().is_empty() {
            return None;
        }

        Some(match yaml::read(part.text, part.line) {
            Ok(tree) => Candidate {
                repairs: vec![Repair::new(
                    RepairKind::Form,
                    part.line,
                    "read YAML in place of JSON",
                )],
                ..Candidate::value(tree)
            },
            Err((line, problem)) => Candidate {
                source: Source::Malformed(problem),
                line,
                repairs: Vec::new(),
                doubt: None,
                cut: None,
            },
        })
    }
}

/// Returns whether brackets in prose, as in `[1]` or `{see below}`, were read as a value.
fn is_prose(mended: &MendedJson) -> bool {
    mended.json().starts_with('{') && mended.json() != "{}" && !mended.json().contains(':')
}

impl Candidate {
    fn value(tree: Tree) -> Self {
        Self {
            line: tree.line,
            source: Source::Value(tree),
            repairs: Vec::new(),
            doubt: None,
            cut: None,
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
