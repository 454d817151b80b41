//! Values written as texts, and texts written as values.

use crate::ask::RepairKind;

use super::{Fitted, Fitter};
use crate::shape::Shape;
use crate::syntax::json;
use crate::syntax::yaml::{self, key_of};
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
            let json = json::read(text, tree.line).whole(text)?;
            if !json.notes.repairs.is_empty() {
                return None;
            }
            (json.tree, "read the JSON in a text")
        } else if text.starts_with("- ") {
            let list = yaml::read(text, tree.line + 1, &self.form.words, false);
            (list.whole(text)?.tree, "read the list in a text")
        } else {
            return None;
        };

        let fitted = self.fit(shape, &encoded);
        self.if_matching(fitted, tree, what)
    }

    /// Returns the text before the first item with a known key, and the list that begins there.
    pub(super) fn list_at_end(&self, text: &str, line: usize) -> Option<(String, Tree)> {
        let mut at = 0;
        for (lines, part) in text.split_inclusive('\n').enumerate() {
            let item = part.trim().strip_prefix("- ");
            let key = item.and_then(|item| key_of(item.trim()));
            if lines > 0 && key.is_some_and(|(key, _)| self.form.words.is_known(&key)) {
                let (before, list) = text.split_at_checked(at)?;
                let read = yaml::read(list, line + 1 + lines, &self.form.words, false);
                return Some((before.trim_end().to_owned(), read.whole(list)?.tree));
            }
            at += part.len();
        }
        None
    }

    /// Writes a list or an object as a text.
    pub(super) fn fit_written(&self, tree: &Tree) -> Option<Fitted> {
        let is_empty = tree.items().is_empty() && tree.entries().is_empty();
        // Of the items of a list, it may be one whose brackets are wrong.
        let mut last = self.place.last().into_iter();
        let is_item = last.any(|place| place.parse::<usize>().is_ok());
        if is_empty || is_item {
            return None;
        }

        let mut lines = Vec::new();
        write(tree, 0, "", &mut lines);
        let what = format!("wrote {} as a text", tree.found());
        let fitted = Fitted::exact(lines.join("\n")).rough();
        Some(self.reported(fitted, RepairKind::Form, tree, &what))
    }

    /// Reads an item of a list that is a text for the only text of an object.
    pub(super) fn fit_plain_item(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        let Shape::Object(object) = self.form.resolve(shape) else {
            return None;
        };
        let mut required = object.properties.iter().filter(|key| key.is_required);
        let (Some(only), None) = (required.next(), required.next()) else {
            return None;
        };
        let (Node::Text(text) | Node::Plain(text)) = &tree.node else {
            return None;
        };
        if text.trim().is_empty() || !matches!(only.shape, Shape::Text(_)) {
            return None;
        }

        let entries = vec![(only.name.clone(), tree.clone())];
        let fitted = self.fit(shape, &Tree::new(tree.line, Node::Object(entries)));
        let what = format!("read a text as `{}`", only.name);
        self.if_matching(fitted.rough(), tree, &what)
    }
}

/// Writes a value in lines of `key: value` and of items.
fn write(tree: &Tree, indent: usize, label: &str, lines: &mut Vec<String>) {
    let text = match &tree.node {
        Node::Null => Some("null"),
        _ => tree.spelling(),
    };
    if text.is_some() || !label.is_empty() {
        let blanks = " ".repeat(indent);
        lines.push(format!("{blanks}{label}{}", text.unwrap_or_default()));
    }

    for item in tree.items() {
        write(item, indent, "- ", lines);
    }
    let indent = if label.is_empty() { indent } else { indent + 2 };
    for (key, value) in tree.entries() {
        write(value, indent, &format!("{key}: "), lines);
    }
}
