//! Reads lines of `key: value`, as models write them that are asked for no JSON.
//!
//! A value goes on until a line begins with another key, so that a text needs neither quotes nor
//! columns. The shape of its key tells what else it is: a number in a sentence, a list of items, or
//! JSON.

use std::collections::BTreeSet;

use serde_json::Value;

use super::json;
use super::line::item_of;
use super::{Notes, Parsed};
use crate::ask::{RepairKind, folded_name};
use crate::fit::number_in;
use crate::shape::{Form, Shape, THOUGHT};
use crate::tree::{Node, Tree};

/// The maximum length of a key, in bytes. A longer one is a sentence with a colon.
const MAX_KEY: usize = 80;

/// A value as it is written, and the line of its key.
struct Written<'f> {
    key: &'f str,
    text: String,
    line: usize,
}

/// Reads the keys of a form. Returns `None` if no line begins with one.
///
/// Text before the first key belongs to the thought. The first occurrence of a key counts, since
/// models repeat the form or invent the next turn.
pub(crate) fn read(text: &str, first_line: usize, form: &Form) -> Option<Parsed> {
    let mut keys = Keys::of(form);
    keys.are_numbered = !text.lines().any(|line| keys.at_start(line).is_some());
    let mut before = String::new();
    let mut written: Vec<Written<'_>> = Vec::new();
    let mut is_fenced = false;

    for (line, content) in (first_line..).zip(text.lines()) {
        // The fence around the form isn't a part of its values.
        if content.trim_start().starts_with("```") && (is_fenced || written.is_empty()) {
            is_fenced = true;
            continue;
        }
        if let Some((key, value)) = keys.at_start(content) {
            let text = value.to_owned();
            written.push(Written { key, text, line });
            continue;
        }

        let text = match written.last_mut() {
            Some(last) => &mut last.text,
            None => &mut before,
        };
        text.push('\n');
        text.push_str(content);
    }

    let mut reader = Reader {
        form,
        notes: Notes::default(),
    };
    let tree = reader.object(first_line, before.trim(), &written);
    (!written.is_empty()).then(|| Parsed::new(tree, reader.notes, text.len()))
}

/// Returns a text without its last line if that may become the name of a key.
pub(crate) fn without_begun_key<'t>(text: &'t str, form: &Form) -> &'t str {
    let (before, last) = text.rsplit_once('\n').unwrap_or(("", text));
    match Keys::of(form).may_begin(last) {
        true => before,
        false => text,
    }
}

struct Keys<'f> {
    /// The names, with the form in which their spellings are compared.
    names: Vec<(String, &'f str)>,
    /// Whether the keys may be numbered as in ReAct's paper, which has `Thought 1`. Next to keys
    /// without a number, such a line is text.
    are_numbered: bool,
}

impl<'f> Keys<'f> {
    fn of(form: &'f Form) -> Self {
        let names = form.properties().iter().map(|key| &key.name);
        let names = names.chain(&form.left_out).map(String::as_str);
        Self {
            names: names.map(|name| (folded_name(name), name)).collect(),
            are_numbered: false,
        }
    }

    /// Returns the key and the value of a line such as `**Action:** search`.
    fn at_start<'t>(&self, line: &'t str) -> Option<(&'f str, &'t str)> {
        // Models that write Chinese use a wide colon.
        let (name, value) = line.split_once([':', '：'])?;

        // A name with quotes or braces is JSON.
        if name.len() > MAX_KEY || name.contains(['"', '{']) {
            return None;
        }

        // Two keys may differ in what is folded only.
        let exact = self.names.iter().find(|(_, key)| *key == name.trim());
        let similar = || self.similar(name).or_else(|| self.numbered(name));
        let (_, key) = exact.or_else(similar)?;
        Some((key, without_mark(bare_name(name).trim_end(), value.trim())))
    }

    fn similar(&self, name: &str) -> Option<&(String, &'f str)> {
        let written = folded_name(bare_name(name));
        self.names.iter().find(|(folded, _)| *folded == written)
    }

    fn numbered(&self, name: &str) -> Option<&(String, &'f str)> {
        let name = name.trim_end_matches(|sign: char| sign.is_ascii_digit());
        self.similar(name).filter(|_| self.are_numbered)
    }

    fn may_begin(&self, line: &str) -> bool {
        let begun = folded_name(bare_name(line));
        // The end of what has arrived would be shown as the text of the key before it.
        let is_name = line.len() <= MAX_KEY && !line.contains([':', '：', '"', '{']);
        is_name && self.names.iter().any(|(key, _)| key.starts_with(&begun))
    }
}

fn bare_name(name: &str) -> &str {
    name.trim_start_matches(|sign: char| sign.is_whitespace() || matches!(sign, '-' | '>' | '#'))
}

/// Returns a value without the end of the bold text that its name begins.
fn without_mark<'t>(name: &str, value: &'t str) -> &'t str {
    let is_mark = |sign: char| matches!(sign, '*' | '_' | '`');
    let inside = name.trim_start_matches(is_mark);
    let mark = name.strip_suffix(inside).unwrap_or_default();
    if name.ends_with(mark) {
        return value;
    }

    let inner = value.strip_prefix(mark).or(value.strip_suffix(mark));
    inner.unwrap_or(value).trim()
}

/// Returns a text without the sign with which YAML begins several lines of text.
fn without_header(text: &str) -> &str {
    let lines = text.strip_prefix(['|', '>']);
    let lines = lines.filter(|lines| lines.starts_with('\n'));
    lines.map_or(text, str::trim)
}

struct Reader<'f> {
    form: &'f Form,
    notes: Notes,
}

impl Reader<'_> {
    fn object(&mut self, line: usize, before: &str, written: &[Written<'_>]) -> Tree {
        let mut entries = Vec::new();
        let mut known = BTreeSet::new();
        for Written { key, text, line } in written {
            if self.form.left_out.iter().any(|name| name == key) {
                let what = format!("left out `{key}`");
                self.notes.repair(RepairKind::Key, *line, what);
                continue;
            }
            if !known.insert(*key) {
                let what = format!("left out a later `{key}`");
                self.notes.repair(RepairKind::DuplicateKey, *line, what);
                continue;
            }

            let text = match *key == THOUGHT {
                true => format!("{before}\n{text}"),
                false => text.clone(),
            };
            // A key without a value is missing.
            let text = without_header(text.trim());
            let mut properties = self.form.properties().iter();
            let property = properties.find(|property| property.name == *key);
            if let Some(property) = property.filter(|_| !text.is_empty()) {
                let node = self.value(&property.shape, text, *line);
                entries.push(((*key).to_owned(), Tree::new(*line, node)));
            }
        }

        if !known.contains(THOUGHT) && !before.is_empty() {
            let thought = Tree::new(line, Node::Text(before.to_owned()));
            entries.push((THOUGHT.to_owned(), thought));
        }
        Tree::new(line, Node::Object(entries))
    }

    /// Reads the text of a value of this shape. Other values are left as texts.
    fn value(&mut self, shape: &Shape, text: &str, line: usize) -> Node {
        let (form, text) = (self.form, unfenced(text));
        let read = match form.resolve(shape) {
            Shape::AnyOf(shapes) => {
                let mut shapes = shapes.iter().filter(|shape| **shape != Shape::Null);
                return match shapes.next() {
                    Some(shape) => self.value(shape, text, line),
                    None => Node::Text(text.to_owned()),
                };
            }
            Shape::Integer(_) | Shape::Number { .. } => self.word(number(text), text, line),
            Shape::Boolean => self.word(boolean(text), text, line),
            Shape::List(items, _) => self.json(text, line).or_else(|| {
                let items = form.resolve(items);
                let is_text = matches!(items, Shape::Text(_) | Shape::Choice(_) | Shape::Any);
                is_text.then(|| items_of(text, line, &mut self.notes))
            }),
            Shape::Map(_) => self.json(text, line).or_else(|| pairs_of(text, line)),
            Shape::Tuple(_) | Shape::Object(_) => self.json(text, line),
            Shape::Any => any(text.trim_matches('`')).or_else(|| self.json(text, line)),
            _ => None,
        };
        read.unwrap_or_else(|| Node::Text(text.to_owned()))
    }

    /// Takes a number or a truth value out of a text.
    fn word(&mut self, word: Option<String>, text: &str, line: usize) -> Option<Node> {
        let word = word?;
        if word != text {
            let text = cogwork_text::Escaped::new(text).with_max_chars(60);
            let what = format!("read \"{text}\" as {word}");
            self.notes.repair(RepairKind::Form, line, what);
        }
        Some(match word.as_str() {
            "true" => Node::Bool(true),
            "false" => Node::Bool(false),
            _ => Node::Number(word),
        })
    }

    /// Reads a list or an object in JSON.
    fn json(&mut self, text: &str, line: usize) -> Option<Node> {
        let text = text.trim_matches('`').trim();
        if !text.starts_with(['[', '{']) {
            return None;
        }

        let read = json::read(text, line).whole(text)?;
        self.notes.absorb(read.notes);
        Some(read.tree.node)
    }
}

/// Returns the text inside a code fence, if the text consists only of the fence.
fn unfenced(text: &str) -> &str {
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n'));
    let inside = inside.and_then(|(_, inside)| inside.strip_suffix("```"));
    inside
        .filter(|inside| !inside.contains("```"))
        .map_or(text, str::trim)
}

/// Reads JSON, except for a number that would be written differently: `1.10` may be a version or a
/// price.
pub(crate) fn any(text: &str) -> Option<Node> {
    match serde_json::from_str(text).ok()? {
        Value::String(_) => None,
        Value::Number(number) if number.to_string() != text.trim() => None,
        // A number at the end of a text might be incomplete.
        _ => Some(json::read(&format!("{text}\n"), 1).tree.node),
    }
}

/// Returns the number that a text such as `8`, `**8**/10`, `8 out of 10` or `8, since 2 steps are right`
/// begins with. A text such as `8 or 9`, `2 * 7`, `3/4`, `50%` or `3 million` isn't accepted, nor is
/// `1,5`, which may be one number or two.
fn number(text: &str) -> Option<String> {
    let text = text.trim_start_matches(['(', '*', '`', '"']);
    let text = text.replace(" out of ", "/");
    let (said, scale) = text.split_once('/').unwrap_or((&text, "10"));
    let end = said.find(|sign: char| sign.is_whitespace() || "(*`\"'".contains(sign));
    let (word, rest) = said.split_at(end.unwrap_or(said.len()));
    let rest = rest.trim_start_matches([' ', '*', '`', '"', '\'']);

    // A word after the number may make another one of it, and a number may be another value.
    let is_ended = rest.is_empty() || word.ends_with([',', ';', ':', '.']);
    let is_explained = rest.starts_with(['(', '\n']);
    let next = rest.split_whitespace().next().unwrap_or_default();
    let goes_on =
        next.starts_with(|sign: char| sign.is_ascii_digit()) || matches!(next, "to" | "or" | "and");
    if !(is_ended || is_explained) || goes_on || !is_scale(scale) {
        return None;
    }

    let word = word.trim_end_matches(['.', ',', ';', ':', ')']);
    number_in(word, false).or_else(|| number_in(word, true))
}

/// Returns whether a text begins with the largest number of a usual scale, as the end of `8/10`.
fn is_scale(text: &str) -> bool {
    let text = text.trim_start();
    let end = text.find(|sign: char| !sign.is_ascii_digit());
    let number = text.get(..end.unwrap_or(text.len())).unwrap_or_default();
    ["5", "10", "20", "100"].contains(&number)
}

/// Returns the truth value that is the first word of a text. `no errors` isn't one.
fn boolean(text: &str) -> Option<String> {
    // Models explain their truth value after it.
    let mut words = text.split([' ', ',', '.', ';', ':', '\n']);
    let first = words.next()?;
    let next = words.next().unwrap_or_default();
    let is_explained = ["", "-", "it", "this", "that", "the", "because", "since"].contains(&next);

    let value = match folded_name(first).as_str() {
        "true" | "yes" => "true",
        "false" => "false",
        "no" if is_explained => "false",
        _ => return None,
    };
    Some(value.to_owned())
}

/// Returns the items of a list in lines, without bullets and numbers.
pub(crate) fn items_of(text: &str, line: usize, notes: &mut Notes) -> Node {
    let lines: Vec<(usize, &str)> = (line..).zip(text.lines()).collect();
    let is_item = |(_, line): &(usize, &str)| item_of(line.trim()).is_some();

    // Models say before a list what it is, and after it what else they can do.
    let first = lines.iter().position(is_item).unwrap_or(0);
    let mut before = lines.iter().take(first);
    let start = before.rposition(|(_, line)| introduces(line.trim()));
    let start = start.map_or(0, |place| place + 1);

    let last = lines.iter().rposition(is_item);
    let end = last.map_or(lines.len(), |last| {
        let after = lines.iter().skip(last + 1);
        last + 1 + after.take_while(|(_, line)| is_indented(line)).count()
    });

    let around = lines.iter().take(start).chain(lines.iter().skip(end));
    let mut around = around.filter(|(_, line)| !line.trim().is_empty());
    if let Some((line, _)) = around.next() {
        let what = "left out the text around the list";
        notes.repair(RepairKind::Prose, *line, what);
    }

    let listed = lines.get(start..end).unwrap_or_default().iter();
    let mut items: Vec<(usize, String)> = Vec::new();
    for (line, raw) in listed.filter(|(_, line)| !line.trim().is_empty()) {
        let item = raw.trim();
        // Without any marks, each line is an item.
        if last.is_none() || item_of(item).is_some() {
            items.push((*line, bare_item(item).to_owned()));
        } else if let Some((_, text)) = items.last_mut() {
            text.extend([" ", item]);
            if !is_indented(raw) {
                let what = "read a line without a mark as a part of the item before it";
                notes.repair(RepairKind::Form, *line, what);
            }
        } else {
            let what = "read a line without a mark as an item";
            notes.repair(RepairKind::Form, *line, what);
            items.push((*line, item.to_owned()));
        }
    }

    let tree = |(line, item)| Tree::new(line, Node::Text(item));
    Node::List(items.into_iter().map(tree).collect())
}

fn is_indented(line: &str) -> bool {
    line.starts_with([' ', '\t'])
}

/// Returns whether a line such as `**Steps:**` comes before a list.
fn introduces(line: &str) -> bool {
    line.trim_end_matches(['*', '_']).ends_with([':', '：'])
}

/// Returns whether a line of a text begins with a bullet or a number.
pub(crate) fn has_items(text: &str) -> bool {
    text.lines().any(|line| item_of(line.trim()).is_some())
}

/// Returns a line without its bullet or number, which must be followed by a space, so that `-5` is
/// kept.
fn bare_item(line: &str) -> &str {
    let line = line.trim();
    item_of(line).map_or(line, |item| item.rest)
}

/// Reads a map from lines such as `total = 5` or `- total: 5`. Returns `None` if any line is
/// different.
fn pairs_of(text: &str, line: usize) -> Option<Node> {
    if text.starts_with(['{', '[']) {
        return None;
    }

    let pair = |(line, pair): (usize, &str)| {
        let (name, value) = bare_item(pair).split_once(['=', ':'])?;
        let name = name.trim().trim_matches(['`', '*', '"']);
        let value = value.trim();
        let text = || serde_json::from_str(value).unwrap_or_else(|_| value.to_owned());
        let node = any(value).unwrap_or_else(|| Node::Text(text()));
        (!name.is_empty()).then(|| (name.to_owned(), Tree::new(line, node)))
    };

    let lines = (line..).zip(text.lines());
    let pairs = lines.filter(|(_, line)| !line.trim().is_empty()).map(pair);
    let pairs: Vec<(String, Tree)> = pairs.collect::<Option<_>>()?;
    (!pairs.is_empty()).then_some(Node::Object(pairs))
}
