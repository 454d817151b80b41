//! Tells which values of a reply are attempts at the answer.

use schemars::JsonSchema;
use serde::de::DeserializeOwned;

use super::AnswerReader;
use crate::fit::Fitted;
use crate::shape::{ANSWER, Shape};
use crate::syntax::Parsed;
use crate::syntax::lines::any;
use crate::tree::{Node, Tree};

impl<T: JsonSchema + DeserializeOwned> AnswerReader<T> {
    /// Returns the candidates that are attempts at the answer. An object around the answer
    /// precedes all others, and a list precedes its items.
    pub(super) fn meant<'c>(&self, found: &'c [Parsed]) -> Vec<&'c Parsed> {
        let attempts = found.iter().filter(|found| self.is_meant(&found.tree));
        let mut meant: Vec<&Parsed> = attempts.collect();
        // Models repeat their answer, which makes it no less clear.
        meant.dedup_by(|next, last| next.tree == last.tree);
        self.leave_out_prose(&mut meant);

        let is_wrapped = |candidate: &&Parsed| self.wrapped(&candidate.tree).is_some();
        let is_list = |candidate: &&Parsed| matches!(candidate.tree.node, Node::List(_));
        if meant.iter().any(is_wrapped) {
            meant.retain(is_wrapped);
        } else if self.form.words.is_list && meant.iter().any(is_list) {
            meant.retain(is_list);
        }
        meant
    }

    /// Leaves out lines after JSON that look like YAML, as in `Note: …`.
    fn leave_out_prose(&self, meant: &mut Vec<&Parsed>) {
        let is_prose = |candidate: &&Parsed| is_in_lines(candidate) && !self.starts_over(candidate);

        // Fitting each value is only necessary if there are such lines.
        if meant.iter().any(is_prose)
            && let Some(answer) = meant.iter().rposition(|meant| self.is_answer(meant))
        {
            let later = meant.split_off(answer + 1);
            meant.extend(later.into_iter().filter(|later| !is_prose(later)));
        }
    }

    /// Returns whether JSON is whole and matches the type.
    fn is_answer(&self, candidate: &Parsed) -> bool {
        !candidate.is_yaml && !candidate.is_broken() && self.fit_inside(candidate).matches()
    }

    /// Returns whether lines are an answer of their own: they match the type, and have one of its
    /// required keys in its own spelling, while prose begins with a capital letter.
    fn starts_over(&self, candidate: &Parsed) -> bool {
        let is_required = |key: &str| {
            let mut properties = self.form.properties().iter();
            let is_answer = self.form.is_wrapped() && key == ANSWER;
            is_answer || properties.any(|property| property.is_required && property.name == key)
        };

        let mut keys = candidate.tree.entries().iter();
        keys.any(|(key, _)| is_required(key)) && self.fit_inside(candidate).matches()
    }

    /// Fits a value, without the object around it.
    fn fit_inside(&self, candidate: &Parsed) -> Fitted {
        let value = self.wrapped(&candidate.tree);
        self.fit(value.unwrap_or(&candidate.tree))
    }

    /// Returns whether the last value may be prose about an earlier one: a text without quotes at
    /// its only key, or lines with other keys.
    pub(super) fn may_be_prose(&self, last: &Parsed, earlier: &[&Parsed]) -> bool {
        let is_text = match last.tree.entries() {
            [(_, only)] => matches!(&only.node, Node::Plain(text) if any(text).is_none()),
            _ => false,
        };
        let is_unclear = || is_text || self.fit_inside(last).has_unknown;
        let is_answer = |candidate: &&Parsed| self.is_answer(candidate);
        is_in_lines(last) && is_unclear() && earlier.iter().any(is_answer)
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

/// Returns whether a value is YAML whose end is only shown by what follows.
fn is_in_lines(candidate: &Parsed) -> bool {
    candidate.is_yaml && !candidate.is_closed
}

/// Returns whether a key is that of an answer that isn't an object by itself.
pub(super) fn is_answer_key(key: &str) -> bool {
    key.eq_ignore_ascii_case(ANSWER)
}
