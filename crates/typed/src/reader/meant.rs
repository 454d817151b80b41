//! Tells which values of a reply are attempts at the answer.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::AnswerReader;
use crate::shape::{ANSWER, Shape};
use crate::syntax::Parsed;
use crate::tree::{Node, Tree};

impl<T: JsonSchema + DeserializeOwned> AnswerReader<T> {
    /// Returns the candidates that are attempts at the answer. An object around the answer
    /// precedes all others, and a list precedes its items.
    pub(super) fn meant<'c>(&self, found: &'c [Parsed]) -> Vec<&'c Parsed> {
        let attempts = found.iter().filter(|found| self.is_meant(&found.tree));
        let mut meant: Vec<&Parsed> = attempts.collect();
        // Models repeat their answer, which makes it no less clear.
        meant.dedup_by(|next, last| next.tree == last.tree);

        let is_wrapped = |candidate: &&Parsed| self.wrapped(&candidate.tree).is_some();
        let is_list = |candidate: &&Parsed| matches!(candidate.tree.node, Node::List(_));
        if meant.iter().any(is_wrapped) {
            meant.retain(is_wrapped);
        } else if self.form.words.is_list && meant.iter().any(is_list) {
            meant.retain(is_list);
        }
        meant
    }

    /// Returns whether a value is an attempt at the answer, rather than an example or a list of
    /// something else.
    fn is_meant(&self, tree: &Tree) -> bool {
        match &tree.node {
            Node::Object(entries) => {
                let has_root = |tree: &Tree| {
                    let mut keys = tree.entries().iter();
                    keys.any(|(key, _)| self.form.words.is_root(key))
                };
                // Small models put the value under the name of its type.
                let is_wrapper = matches!(entries.as_slice(), [(_, inner)] if has_root(inner));
                let is_meant = has_root(tree) || is_wrapper || self.is_item(tree);
                is_meant || (entries.is_empty() && self.fit(tree).matches())
            }
            Node::List(items) => match self.form.resolve(&self.form.root) {
                Shape::List(..) | Shape::Tuple(_) | Shape::Any | Shape::AnyOf(_) => true,
                // A list with one object is the object, if nothing else is in it.
                Shape::Object(_) => items.len() == 1 && self.fit(tree).matches(),
                _ => false,
            },
            Node::Text(text) => self.form.is_wrapped() || text.trim().starts_with('{'),
            _ => self.form.is_wrapped(),
        }
    }

    /// Returns whether an object is an item of the list that is expected.
    pub(super) fn is_item(&self, tree: &Tree) -> bool {
        let Shape::List(items, _) = self.form.resolve(&self.form.root) else {
            return false;
        };

        let mut keys = tree.entries().iter();
        keys.any(|(key, _)| self.is_key_of(items, key))
    }

    /// Returns the value of an answer that isn't an object by itself, if it is wrapped in one.
    pub(super) fn wrapped<'t>(&self, tree: &'t Tree) -> Option<&'t Tree> {
        let entries = tree.entries().iter();
        let mut answers = entries.filter(|(key, _)| is_answer_key(key));
        let (Some((key, value)), None) = (answers.next(), answers.next()) else {
            return None;
        };

        // Models give their reasons next to the answer, unless all of the keys are the answer.
        let is_alone = tree.entries().len() == 1;
        let is_own =
            self.form.words.is_open || self.is_item(tree) || self.is_key_of(&self.form.root, key);
        let is_wrapper = self.form.is_wrapped() && (is_alone || !is_own);
        is_wrapper.then_some(value)
    }

    fn is_key_of(&self, shape: &Shape, key: &str) -> bool {
        match self.form.resolve(shape) {
            Shape::Object(object) => object.has_key(key),
            Shape::Map(_) => true,
            Shape::AnyOf(shapes) => shapes.iter().any(|shape| match self.form.resolve(shape) {
                Shape::Object(object) => object.has_key(key),
                _ => false,
            }),
            _ => false,
        }
    }
}

/// Returns whether a key is that of an answer that isn't an object by itself.
pub(super) fn is_answer_key(key: &str) -> bool {
    key.eq_ignore_ascii_case(ANSWER)
}
