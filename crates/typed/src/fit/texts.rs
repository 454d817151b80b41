//! Values written as texts, and texts written as values.

use crate::ask::RepairKind;

use super::{Fitted, Fitter};
use crate::shape::{Object, Shape};
use crate::syntax::json::{self, Dialect};
use crate::syntax::yaml::{self, key_of};
use crate::syntax::{Ending, Parsed};
use crate::tree::{Node, Tree};

impl<'f> Fitter<'f> {
    /// Reads a list or an object that was written as a text.
    pub(super) fn fit_encoded(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        let (Node::Text(text) | Node::Plain(text)) = &tree.node else {
            return None;
        };
        let is_nested = matches!(
            shape,
            Shape::List(..) | Shape::Tuple(_) | Shape::Map(_) | Shape::Object(_)
        );
        if !is_nested || self.is_only_item {
            return None;
        }

        let text = text.trim();
        let (encoded, what) = if text.starts_with(['{', '[']) {
            (json_in(text, tree.line)?, "read the JSON in a text")
        } else if text.starts_with("- ") {
            let list = self.yaml_in(text, tree.line + 1)?;
            (list, "read the list in a text")
        } else {
            return None;
        };

        let what = self.named(what);
        self.fit(shape, &encoded)
            .if_matching(RepairKind::Form, tree.line, what)
    }

    fn yaml_in(&self, text: &str, line: usize) -> Option<Tree> {
        let Parsed { tree, notes, end } = yaml::read(text, line, self.words, false);
        let is_whole = end == text.len() && notes.doubt.is_none() && notes.ending == Ending::Whole;
        is_whole.then_some(tree)
    }

    /// Returns the text before the first item with a known key, and the list that begins there.
    pub(super) fn list_at_end(&self, text: &str, line: usize) -> Option<(String, Tree)> {
        let mut at = 0;
        for (lines, part) in text.split_inclusive('\n').enumerate() {
            let item = part.trim().strip_prefix("- ");
            let key = item.and_then(|item| key_of(item.trim()));
            if lines > 0 && key.is_some_and(|(key, _)| self.words.is_known(&key)) {
                let (before, list) = text.split_at_checked(at)?;
                let list = self.yaml_in(list, line + 1 + lines)?;
                return Some((before.trim_end().to_owned(), list));
            }
            at += part.len();
        }
        None
    }

    /// Writes a list or an object as a text.
    pub(super) fn fit_written(&self, tree: &Tree) -> Option<Fitted> {
        let is_empty = match &tree.node {
            Node::List(items) => items.is_empty(),
            Node::Object(entries) => entries.is_empty(),
            _ => true,
        };
        // Of the items of a list, it may be one whose brackets are wrong.
        let is_item = self
            .place
            .last()
            .is_some_and(|place| place.parse::<usize>().is_ok());
        if is_empty || is_item {
            return None;
        }

        let mut lines = Vec::new();
        write(tree, 0, "", &mut lines);
        let what = self.named(&format!("wrote {} as a text", tree.found()));
        let fitted = Fitted::exact(lines.join("\n").into());
        Some(fitted.repaired(RepairKind::Form, tree.line, what).rough())
    }

    /// Reads an item of a list that is a text for the only text of an object.
    pub(super) fn fit_plain_item(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        let Shape::Object(object) = self.form.resolve(shape) else {
            return None;
        };
        let (Node::Text(text) | Node::Plain(text)) = &tree.node else {
            return None;
        };
        let name = only_text(object)?;
        if text.trim().is_empty() {
            return None;
        }

        let whole = Tree::new(
            tree.line,
            Node::Object(vec![(name.to_owned(), tree.clone())]),
        );
        let what = self.named(&format!("read a text as `{name}`"));
        self.fit(shape, &whole)
            .if_matching(RepairKind::Form, tree.line, what)
            .map(Fitted::rough)
    }
}

/// Returns the name of the only property that is required, if it is a text.
fn only_text(object: &Object) -> Option<&str> {
    let mut required = object
        .properties
        .iter()
        .filter(|property| property.is_required);
    let only = required
        .next()
        .filter(|only| matches!(only.shape, Shape::Text(_)))?;
    required.next().is_none().then_some(&only.name)
}

/// Reads the valid JSON in a text on this line.
fn json_in(text: &str, line: usize) -> Option<Tree> {
    serde_json::from_str::<serde::de::IgnoredAny>(text).ok()?;
    let Parsed {
        mut tree, notes, ..
    } = json::read(text, line, Dialect::Json);
    if notes.doubt.is_some() {
        return None;
    }
    set_line(&mut tree, line);
    Some(tree)
}

/// The lines of an escaped text are those of no line of the reply.
fn set_line(tree: &mut Tree, line: usize) {
    tree.line = line;
    match &mut tree.node {
        Node::List(items) => items.iter_mut().for_each(|item| set_line(item, line)),
        Node::Object(entries) => entries
            .iter_mut()
            .for_each(|(_, value)| set_line(value, line)),
        _ => {}
    }
}

/// Writes a value in lines of `key: value` and of items.
fn write(tree: &Tree, indent: usize, label: &str, lines: &mut Vec<String>) {
    let blanks = " ".repeat(indent);
    let is_nested = matches!(tree.node, Node::List(_) | Node::Object(_));
    let text = match &tree.node {
        Node::List(_) | Node::Object(_) => "",
        Node::Null => "null",
        Node::Bool(true) => "true",
        Node::Bool(false) => "false",
        Node::Number(text) | Node::Text(text) | Node::Plain(text) => text,
    };
    if !is_nested || !label.is_empty() {
        lines.push(format!("{blanks}{label}{text}"));
    }

    if let Node::List(items) = &tree.node {
        items
            .iter()
            .for_each(|item| write(item, indent, "- ", lines));
    }
    let indent = if label.is_empty() { indent } else { indent + 2 };
    for (key, value) in tree.entries() {
        write(value, indent, &format!("{key}: "), lines);
    }
}
