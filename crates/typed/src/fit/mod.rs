//! Fits the value of a reply to a shape.
//!
//! Differences with one meaning are corrected and reported. A value that could be meant in several
//! ways is refused, and one that doesn't match is left to the type itself, which may accept more
//! than its schema.

mod alternatives;
mod number;
mod object;
mod scalar;
mod texts;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use crate::ask::{Repair, RepairKind};
use serde_json::Value;

pub(crate) use self::number::number_in;
use self::object::property_of;
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::{Bounds, ENTRY, Form, Shape, Words};
use crate::syntax::MAX_REPAIRS;
use crate::tree::{Node, Tree};

/// What is reported of a key that the schema doesn't know.
pub(crate) const UNKNOWN_KEY: &str = "ignored the unknown key";

/// A value in the form that the type expects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Fitted {
    /// `None` for a value that is left as it is written. It is only copied where it is used, since
    /// alternatives are given up at every level.
    value: Option<Value>,
    pub(crate) repairs: Vec<Repair>,
    /// What doesn't match the schema.
    pub(crate) mismatches: Vec<AnswerProblem>,
    /// The first part that could be meant in several ways, or is out of bounds.
    pub(crate) refusal: Option<AnswerProblem>,
    /// Whether a part may be missing without notice if the reply was cut off.
    pub(crate) may_lack_parts: bool,
    /// Whether it has keys that the schema doesn't know.
    pub(crate) has_unknown: bool,
    /// Whether parts of it were moved or rewritten, so that any other reading is preferred.
    pub(crate) is_rough: bool,
}

impl Fitted {
    fn exact(value: Value) -> Self {
        Self {
            value: Some(value),
            ..Self::default()
        }
    }

    /// Returns whether the value matches the schema.
    pub(crate) fn matches(&self) -> bool {
        self.mismatches.is_empty() && !self.is_refused()
    }

    fn is_refused(&self) -> bool {
        self.refusal.is_some()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.matches() && self.repairs.is_empty()
    }

    fn repair(&mut self, kind: RepairKind, line: usize, what: impl Into<String>) {
        if self.repairs.len() < MAX_REPAIRS {
            self.repairs.push(Repair::new(kind, line, what));
        }
    }

    fn repaired(mut self, kind: RepairKind, line: usize, what: impl Into<String>) -> Self {
        self.repair(kind, line, what);
        self
    }

    /// Returns the value with a repair if it matches.
    fn if_matching(self, kind: RepairKind, line: usize, what: impl Into<String>) -> Option<Self> {
        self.matches().then(|| self.repaired(kind, line, what))
    }

    fn rough(mut self) -> Self {
        self.is_rough = true;
        self
    }

    /// Takes the value, which was fitted to this tree.
    pub(crate) fn take_value(&mut self, tree: &Tree) -> Value {
        self.value.take().unwrap_or_else(|| tree.to_value())
    }

    /// Takes over everything but the value of a part, which is returned.
    fn absorb(&mut self, mut part: Self, tree: &Tree) -> Value {
        let value = part.take_value(tree);
        let room = MAX_REPAIRS.saturating_sub(self.repairs.len());
        self.repairs.extend(part.repairs.into_iter().take(room));
        let room = MAX_REPAIRS.saturating_sub(self.mismatches.len());
        self.mismatches
            .extend(part.mismatches.into_iter().take(room));
        self.refusal = self.refusal.take().or(part.refusal);
        self.may_lack_parts |= part.may_lack_parts;
        self.has_unknown |= part.has_unknown;
        self.is_rough |= part.is_rough;
        value
    }
}

/// Fits values to the shapes of a form.
pub(crate) struct Fitter<'f> {
    form: &'f Form,
    words: &'f Words,
    /// Whether keys that the schema doesn't know are left to the type.
    keeps_unknown: bool,
    /// How many more values are visited. Alternatives inside alternatives would otherwise take
    /// exponential time.
    fuel: usize,
    /// Whether the value is tried as the only item of a list.
    is_only_item: bool,
    place: Vec<String>,
    /// The values at keys that are unknown where they are, by the key. Of several, two are kept.
    strays: BTreeMap<String, Vec<Tree>>,
}

impl<'f> Fitter<'f> {
    /// Creates a fitter for values of a reply of this length.
    pub(crate) fn new(form: &'f Form, words: &'f Words, bytes: usize) -> Self {
        Self {
            form,
            words,
            keeps_unknown: true,
            fuel: 1_000 + bytes.saturating_mul(32),
            is_only_item: false,
            place: Vec::new(),
            strays: BTreeMap::new(),
        }
    }

    /// Leaves out the keys that the schema doesn't know.
    pub(crate) fn without_unknown(mut self) -> Self {
        self.keeps_unknown = false;
        self
    }

    pub(crate) fn fit(&mut self, shape: &'f Shape, tree: &Tree) -> Fitted {
        let Some(fuel) = self.fuel.checked_sub(1) else {
            let message = "the value has too many possible forms; expected a simpler one";
            return self.refused(Kind::Mismatch, tree, message);
        };

        self.fuel = fuel;
        let shape = self.form.resolve(shape);
        self.fit_single(shape, tree)
            .or_else(|| self.fit_encoded(shape, tree))
            .or_else(|| self.fit_as(shape, tree))
            .unwrap_or_else(|| self.mismatch(shape, tree))
    }

    /// Fits a value that isn't written as another kind of value; `None` if it doesn't match.
    fn fit_as(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        match (shape, &tree.node) {
            (Shape::Any | Shape::Ref(_), Node::List(items)) => {
                Some(self.fit_items(items.iter().map(|item| (&Shape::Any, item))))
            }
            (Shape::Any | Shape::Ref(_), Node::Object(entries)) => {
                Some(self.fit_map(&Shape::Any, entries))
            }
            (Shape::Any | Shape::Ref(_), _) => Some(self.fit_any(tree)),
            (Shape::Null, _) => self.fit_null(tree),
            (Shape::Boolean, _) => self.fit_boolean(tree),
            (Shape::Integer(bounds), _) => self.fit_integer(shape, *bounds, tree),
            (Shape::Number { .. }, _) => self.fit_number(shape, tree),
            (Shape::Text(text), _) => self.fit_text(text, tree),
            (Shape::Choice(choices), _) => self.fit_choice(choices, tree),
            (Shape::List(items, bounds), Node::List(found)) => {
                Some(self.fit_list(items, *bounds, found, tree))
            }
            (Shape::List(items, bounds), _) => self.fit_only_item(items, *bounds, tree),
            (Shape::Tuple(items), Node::List(found)) if found.len() == items.len() => {
                Some(self.fit_items(items.iter().zip(found)))
            }
            (Shape::Map(values), Node::Object(entries)) => Some(self.fit_map(values, entries)),
            (Shape::Map(values), Node::List(items)) if self.words.has_lines => {
                let entries: Option<Vec<_>> = items.iter().map(entry_of).collect();
                Some(self.fit_map(values, &entries?))
            }
            (Shape::Object(object), Node::Object(_)) => Some(self.fit_object(object, tree)),
            (Shape::AnyOf(shapes), _) => Some(self.fit_any_of(shapes, tree)),
            _ => None,
        }
    }

    /// Unwraps a list of one value where a single value is expected.
    fn fit_single(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        let Node::List(items) = &tree.node else {
            return None;
        };
        let [item] = items.as_slice() else {
            return None;
        };

        let takes_lists = matches!(
            shape,
            Shape::List(..) | Shape::Tuple(_) | Shape::Any | Shape::AnyOf(_) | Shape::Ref(_)
        );
        let is_map = matches!(shape, Shape::Map(_)) && self.words.has_lines;
        if takes_lists || is_map || matches!(item.node, Node::List(_)) {
            return None;
        }

        let what = "took the only item of a list";
        self.fit(shape, item)
            .if_matching(RepairKind::Form, tree.line, self.named(what))
    }

    fn fit_list(
        &mut self,
        items: &'f Shape,
        bounds: Bounds,
        found: &[Tree],
        tree: &Tree,
    ) -> Fitted {
        let mut list = Fitted::default();
        let found = self.joined_parts(items, found, &mut list);
        let fitted = self.fit_items(found.iter().map(|item| (items, item)));
        list.value = Some(list.absorb(fitted, tree));
        self.bounded_count(list, bounds, found.len(), tree)
    }

    fn fit_items<'t>(&mut self, items: impl Iterator<Item = (&'f Shape, &'t Tree)>) -> Fitted {
        let mut list = Fitted::default();
        let mut values = Vec::new();
        for (place, (shape, item)) in items.enumerate() {
            // One reason is enough. The type may still accept the items as they are.
            if list.mismatches.len() >= MAX_REPAIRS {
                values.push(item.to_value());
                continue;
            }

            let fitted = self.inside(place, |fitter| {
                let fitted = fitter.fit(shape, item);
                match fitted.matches() {
                    true => fitted,
                    false => fitter.fit_plain_item(shape, item).unwrap_or(fitted),
                }
            });
            values.push(list.absorb(fitted, item));
        }

        list.value = Some(Value::Array(values));
        // Only objects outside of lists may be unclosed.
        list.may_lack_parts = false;
        list
    }

    /// Joins the parts of an item that have a dash each.
    fn joined_parts<'t>(
        &self,
        items: &Shape,
        found: &'t [Tree],
        list: &mut Fitted,
    ) -> Cow<'t, [Tree]> {
        let Shape::Object(object) = self.form.resolve(items) else {
            return found.into();
        };
        let names = |tree: &Tree| -> Option<BTreeSet<&str>> {
            let keys = tree.entries().iter();
            keys.map(|(key, _)| Some(property_of(object, key)?.name.as_str()))
                .collect()
        };
        let required = object
            .properties
            .iter()
            .filter(|property| property.is_required);
        let required: BTreeSet<&str> = required.map(|property| property.name.as_str()).collect();

        let mut joined: Vec<Tree> = Vec::new();
        let mut known: Option<BTreeSet<&str>> = None;
        for item in found {
            let new = names(item).filter(|new| !new.is_empty());
            if let (Some(known), Some(new), Some(last)) = (&mut known, &new, joined.last_mut()) {
                let lacks = |name: &&&str| known.contains(**name) && !new.contains(**name);
                let is_part = known.is_disjoint(new) && required.iter().any(|name| lacks(&name));
                if let (true, Node::Object(entries)) = (is_part, &mut last.node) {
                    known.extend(new);
                    entries.extend(item.entries().iter().cloned());
                    let what = self.named("joined the parts of an item");
                    list.repair(RepairKind::Form, item.line, what);
                    list.is_rough = true;
                    continue;
                }
            }
            known = new;
            joined.push(item.clone());
        }

        if joined.len() == found.len() {
            return found.into();
        }
        joined.into()
    }

    /// Takes a value for the only item of a list.
    fn fit_only_item(&mut self, items: &'f Shape, bounds: Bounds, tree: &Tree) -> Option<Fitted> {
        // The text may enumerate the items.
        let is_enumeration = match &tree.node {
            Node::Text(text) | Node::Plain(text) => text.contains([',', ';', '\n', '|']),
            Node::Null => true,
            _ => false,
        };
        // A list of lists isn't made of a single value.
        if is_enumeration || self.is_other_object(items, tree) || self.is_only_item {
            return None;
        }

        self.is_only_item = true;
        let fitted = self.fit(items, tree);
        self.is_only_item = false;

        let what = self.named("made a list of a single value");
        let mut list = fitted.if_matching(RepairKind::Form, tree.line, what)?;
        list.value = list.value.map(|item| Value::Array(vec![item]));
        Some(self.bounded_count(list, bounds, 1, tree))
    }

    /// Returns whether an object has none of the keys of a shape.
    fn is_other_object(&self, shape: &Shape, tree: &Tree) -> bool {
        let (Shape::Object(object), Node::Object(entries)) = (self.form.resolve(shape), &tree.node)
        else {
            return false;
        };

        !entries.iter().any(|(key, _)| object.has_key(key))
    }

    /// Fits a part of the value.
    fn inside(&mut self, place: impl ToString, fit: impl FnOnce(&mut Self) -> Fitted) -> Fitted {
        let was_only_item = std::mem::replace(&mut self.is_only_item, false);
        self.place.push(place.to_string());
        let fitted = fit(self);

        self.place.pop();
        self.is_only_item = was_only_item;
        fitted
    }

    fn pointer(&self) -> String {
        let escaped = |part: &String| format!("/{}", part.replace('~', "~0").replace('/', "~1"));
        self.place.iter().map(escaped).collect()
    }

    /// Adds the place to a repair.
    fn named(&self, what: &str) -> String {
        match self.place.last() {
            Some(_) => format!("`{}`: {what}", self.pointer()),
            None => what.to_owned(),
        }
    }

    /// Leaves a value as it is, with a complaint in case that the type doesn't accept it, either.
    fn mismatch(&self, shape: &Shape, tree: &Tree) -> Fitted {
        let expected = self.form.kind(shape);
        let fitted = self.unmatched(format!("found {}; expected {expected}", tree.found()), tree);

        // The type may know a word of YAML, such as `True`, as another name of a variant.
        let word = match (&tree.node, shape) {
            (Node::Plain(word), Shape::Choice(_)) => Some(Value::from(word.as_str())),
            _ => None,
        };
        Fitted {
            value: word,
            ..fitted
        }
    }

    fn unmatched(&self, message: String, tree: &Tree) -> Fitted {
        let problem = AnswerProblem::new(Kind::Mismatch, tree.line, message).at(self.pointer());

        Fitted {
            mismatches: vec![problem],
            ..Fitted::default()
        }
    }

    fn refused(&self, kind: Kind, tree: &Tree, message: impl Into<String>) -> Fitted {
        let problem = AnswerProblem::new(kind, tree.line, message).at(self.pointer());

        Fitted {
            refusal: Some(problem),
            ..Fitted::default()
        }
    }

    fn bounded_count(&self, fitted: Fitted, bounds: Bounds, count: usize, tree: &Tree) -> Fitted {
        #[expect(clippy::cast_precision_loss, reason = "no reply has so many items")]
        let is_inside = bounds.contain(count as f64);
        if is_inside {
            return fitted;
        }

        let message = format!("found {count} items; expected {}", bounds.count("items"));
        self.refused(Kind::Mismatch, tree, message)
    }
}

/// Returns the name and the value of an entry of a map that is written as a list of entries.
fn entry_of(tree: &Tree) -> Option<(String, Tree)> {
    let [
        (
            first,
            Tree {
                node: Node::Text(name),
                ..
            },
        ),
        (second, value),
    ] = tree.entries()
    else {
        return None;
    };
    let is_entry = [first.as_str(), second.as_str()] == ENTRY;
    is_entry.then(|| (name.clone(), value.clone()))
}

impl Bounds {
    fn contain(self, value: f64) -> bool {
        self.min.is_none_or(|min| value >= min) && self.max.is_none_or(|max| value <= max)
    }

    /// Writes how many are expected.
    fn count(self, what: &str) -> String {
        let is_one = self.max.or(self.min) == Some(1.0);
        let what = what.strip_suffix('s').filter(|_| is_one).unwrap_or(what);
        match (self.min, self.max) {
            (Some(min), Some(max)) if min == max => format!("{min} {what}"),
            (Some(min), Some(max)) => format!("{min} to {max} {what}"),
            (Some(min), None) => format!("at least {min} {what}"),
            (None, Some(max)) => format!("at most {max} {what}"),
            (None, None) => what.to_owned(),
        }
    }
}
