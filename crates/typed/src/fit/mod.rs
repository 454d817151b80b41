//! Fits the value of a reply to a shape.
//!
//! Differences with one meaning are corrected and reported. A value that could be meant in several
//! ways is refused, and one that doesn't match is left to the type itself, which may accept more
//! than its schema.

mod alternatives;
mod list;
mod misplaced;
mod number;
mod object;
mod scalar;
mod texts;

use std::collections::BTreeMap;

use crate::ask::{Repair, RepairKind};
use serde_json::Value;

pub(crate) use self::number::number_in;
use crate::problem::{AnswerProblem, AnswerProblemKind as Kind};
use crate::shape::{Bounds, Form, Shape};
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
    /// Whether it has keys that the schema doesn't know.
    pub(crate) has_unknown: bool,
    /// Whether parts of it were moved or rewritten, so that any other reading is preferred.
    is_rough: bool,
}

impl Fitted {
    fn exact(value: impl Into<Value>) -> Self {
        Self {
            value: Some(value.into()),
            ..Self::default()
        }
    }

    /// Returns whether the value matches the schema.
    pub(crate) fn matches(&self) -> bool {
        self.mismatches.is_empty() && self.refusal.is_none()
    }

    pub(crate) fn is_exact(&self) -> bool {
        self.matches() && self.repairs.is_empty()
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
        self.repairs.extend(part.repairs);
        self.repairs.truncate(MAX_REPAIRS);
        self.mismatches.extend(part.mismatches);
        self.mismatches.truncate(MAX_REPAIRS);
        self.refusal = self.refusal.take().or(part.refusal);
        self.has_unknown |= part.has_unknown;
        self.is_rough |= part.is_rough;
        value
    }
}

/// Fits values to the shapes of a form.
pub(crate) struct Fitter<'f> {
    form: &'f Form,
    /// Whether keys that the schema doesn't know are left to the type.
    keeps_unknown: bool,
    /// How many more values are visited. Alternatives inside alternatives would otherwise take
    /// exponential time.
    fuel: usize,
    /// Whether the value is tried as the only item of a list.
    is_only_item: bool,
    place: Vec<String>,
    /// The values at keys that are unknown where they are, by the key. None is kept of several.
    strays: BTreeMap<String, Option<Tree>>,
}

impl<'f> Fitter<'f> {
    /// Creates a fitter for values of a reply of this length.
    pub(crate) fn new(form: &'f Form, bytes: usize) -> Self {
        Self {
            form,
            keeps_unknown: true,
            fuel: 1_000 + bytes.saturating_mul(32),
            is_only_item: false,
            place: Vec::new(),
            strays: BTreeMap::new(),
        }
    }

    /// Leaves out the keys that objects refuse.
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
        // In this order, a value with another form isn't taken for one that doesn't match.
        self.fit_single(shape, tree)
            .or_else(|| self.fit_encoded(shape, tree))
            .or_else(|| self.fit_as(shape, tree))
            .unwrap_or_else(|| self.mismatch(shape, tree))
    }

    /// Fits a value that isn't written as another kind of value; `None` if it doesn't match.
    fn fit_as(&mut self, shape: &'f Shape, tree: &Tree) -> Option<Fitted> {
        match (shape, &tree.node) {
            (Shape::Any, Node::List(items)) => {
                Some(self.fit_items(items.iter().map(|item| (&Shape::Any, item))))
            }
            (Shape::Any, Node::Object(entries)) => Some(self.fit_map(&Shape::Any, entries)),
            (Shape::Any, _) => Some(self.fit_any(tree)),
            (Shape::Null, _) => self.fit_null(tree),
            (Shape::Boolean, _) => self.fit_boolean(tree),
            (Shape::Integer(bounds) | Shape::Number { bounds, .. }, _) => {
                self.fit_number(shape, *bounds, tree)
            }
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
            (Shape::Map(values), Node::List(items)) if self.form.is_of_keys => {
                self.fit_entries_of_map(values, items)
            }
            (Shape::Object(object), Node::Object(_)) => Some(self.fit_object(object, tree)),
            (Shape::AnyOf(shapes), _) => Some(self.fit_any_of(shapes, tree)),
            _ => None,
        }
    }

    /// Fits a part of the value.
    fn inside(&mut self, place: impl ToString, fit: impl FnOnce(&mut Self) -> Fitted) -> Fitted {
        // A list further in may be made of a single value again.
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

    /// Reports what was done to a value, with its place.
    fn report(&self, fitted: &mut Fitted, kind: RepairKind, tree: &Tree, what: &str) {
        let what = match self.place.as_slice() {
            [] => what.to_owned(),
            _ => format!("`{}`: {what}", self.pointer()),
        };
        if fitted.repairs.len() < MAX_REPAIRS {
            fitted.repairs.push(Repair::new(kind, tree.line, what));
        }
    }

    fn reported(&self, mut fitted: Fitted, kind: RepairKind, tree: &Tree, what: &str) -> Fitted {
        self.report(&mut fitted, kind, tree, what);
        fitted
    }

    /// Returns a value that has another form than the one that is expected, if it matches.
    fn if_matching(&self, fitted: Fitted, tree: &Tree, what: &str) -> Option<Fitted> {
        let is_matching = fitted.matches();
        is_matching.then(|| self.reported(fitted, RepairKind::Form, tree, what))
    }

    /// Leaves a value as it is, with a complaint in case that the type doesn't accept it, either.
    fn mismatch(&self, shape: &Shape, tree: &Tree) -> Fitted {
        let expected = self.form.kind(shape);
        self.unmatched(format!("found {}; expected {expected}", tree.found()), tree)
    }

    fn unmatched(&self, message: String, tree: &Tree) -> Fitted {
        Fitted {
            mismatches: vec![self.problem(Kind::Mismatch, tree, message)],
            ..Fitted::default()
        }
    }

    fn refused(&self, kind: Kind, tree: &Tree, message: impl Into<String>) -> Fitted {
        Fitted {
            refusal: Some(self.problem(kind, tree, message)),
            ..Fitted::default()
        }
    }

    fn problem(&self, kind: Kind, tree: &Tree, message: impl Into<String>) -> AnswerProblem {
        AnswerProblem::new(kind, tree.line, message).at(self.pointer())
    }

    /// Refuses a value with several meanings.
    fn ambiguous(&self, shape: &Shape, tree: &Tree) -> Fitted {
        let (found, expected) = (tree.found(), self.form.kind(shape));
        let message = format!("{found} may be meant in several ways; write it as {expected}");
        self.refused(Kind::Ambiguous, tree, message)
    }

    /// Refuses a value that has too few or too many of its parts.
    fn out_of_bounds(
        &self,
        bounds: Bounds,
        count: usize,
        what: &str,
        tree: &Tree,
    ) -> Option<Fitted> {
        if bounds.contain_count(count) {
            return None;
        }

        let message = format!("found {count} {what}; expected {}", bounds.count(what));
        Some(self.refused(Kind::Mismatch, tree, message))
    }
}
