//! Texts, truth values, numbers and choices.

use crate::ask::{RepairKind, folded_name};
use serde_json::{Number, Value};

use super::number::number_in;
use super::{Fitted, Fitter, Kind};
use crate::shape::{Bounds, Choice, Shape, Text};
use crate::syntax::lines;
use crate::tree::{Node, Tree, is_plain_null};

impl Fitter<'_> {
    /// Takes a value as it is, unless JSON can't represent it without a loss.
    pub(super) fn fit_any(&self, tree: &Tree) -> Fitted {
        match &tree.node {
            Node::Number(number) if !is_held(number, false) => self.too_large(64, tree),
            // It was asked for as a text.
            Node::Text(text) if self.form.is_of_keys && self.place.len() == 1 => {
                let node = lines::any(text);
                Fitted::exact(node.map_or_else(
                    || text.as_str().into(),
                    |node| Tree::new(tree.line, node).to_value(),
                ))
            }
            _ => Fitted::exact(tree.to_value()),
        }
    }

    pub(super) fn fit_null(&self, tree: &Tree) -> Option<Fitted> {
        let null = Fitted::exact(Value::Null);
        let is_word = |text: &str| {
            let text = text.trim().to_ascii_lowercase();
            matches!(text.as_str(), "" | "null" | "none" | "n/a" | "nil")
        };

        match &tree.node {
            Node::Null => Some(null),
            Node::Plain(text) if is_plain_null(text) => Some(null),
            Node::Text(text) | Node::Plain(text) if is_word(text) => {
                let what = format!("read \"{}\" as null", text.trim());
                Some(self.reported(null, RepairKind::Form, tree, &what))
            }
            _ => None,
        }
    }

    pub(super) fn fit_boolean(&self, tree: &Tree) -> Option<Fitted> {
        let text = match &tree.node {
            Node::Bool(value) => return Some(Fitted::exact(*value)),
            Node::Text(text) | Node::Plain(text) => text,
            _ => return None,
        };
        let value = match folded_name(text).as_str() {
            "true" | "yes" => true,
            "false" | "no" => false,
            _ => return None,
        };

        let fitted = Fitted::exact(value);
        if tree.to_value().is_boolean() {
            return Some(fitted);
        }
        let what = "read a text as a truth value";
        Some(self.reported(fitted, RepairKind::TruthValue, tree, what))
    }

    /// Fits an integer or another number within bounds.
    pub(super) fn fit_number(&self, shape: &Shape, bounds: Bounds, tree: &Tree) -> Option<Fitted> {
        let text = match &tree.node {
            Node::Number(text) | Node::Plain(text) | Node::Text(text) => text,
            _ => return None,
        };
        let (number, kind) = match shape {
            Shape::Number { is_single, .. } => {
                let found = number_in(text, false)?;
                if !is_held(&found, *is_single) {
                    return Some(self.too_large(if *is_single { 32 } else { 64 }, tree));
                }
                (serde_json::from_str::<Number>(&found).ok()?, "a number")
            }
            _ => {
                let found = number_in(text, true)?;
                // In a text, `1.000` may be a thousand.
                let fraction = found.split_once('.').map_or("", |(_, fraction)| fraction);
                if fraction.len() == 3 && matches!(tree.node, Node::Text(_)) {
                    return None;
                }
                let Some(integer) = integer(&found) else {
                    let is_integer = !found.contains(['.', 'e', 'E']);
                    return is_integer.then(|| self.too_large_integer(tree));
                };
                (integer, "an integer")
            }
        };

        if !number.as_f64().is_some_and(|value| bounds.contain(value)) {
            let message = format!("found {}; expected {}", tree.found(), self.form.kind(shape));
            return Some(self.refused(Kind::Mismatch, tree, message));
        }
        let is_number = tree.to_value() == Value::Number(number.clone());
        let fitted = Fitted::exact(Value::Number(number));
        if is_number {
            return Some(fitted);
        }
        let what = format!("read {} as {kind}", tree.found());
        Some(self.reported(fitted, RepairKind::Form, tree, &what))
    }

    fn too_large(&self, bits: u8, tree: &Tree) -> Fitted {
        let message = format!("found {}; expected one of {bits} bits", tree.found());
        self.refused(Kind::Mismatch, tree, message)
    }

    /// The values of serde_json have no larger integers.
    fn too_large_integer(&self, tree: &Tree) -> Fitted {
        let (found, min, max) = (tree.found(), i64::MIN, u64::MAX);
        let message = format!("found {found}; expected an integer of 64 bits, from {min} to {max}");
        self.refused(Kind::Mismatch, tree, message)
    }

    pub(super) fn fit_text(&self, expected: &Text, tree: &Tree) -> Option<Fitted> {
        let text = match &tree.node {
            Node::Plain(text) if is_plain_null(text) => return None,
            Node::List(_) | Node::Object(_) if expected.may_be_long() => {
                return self.fit_written(tree);
            }
            _ => tree.spelling()?,
        };

        let count = text.chars().count();
        if let Some(refused) = self.out_of_bounds(expected.bounds, count, "characters", tree) {
            return Some(refused);
        }
        let fitted = Fitted::exact(text);
        if matches!(tree.node, Node::Text(_) | Node::Plain(_)) {
            return Some(fitted);
        }
        let what = format!("read {} as a text", tree.found());
        Some(self.reported(fitted, RepairKind::Quotes, tree, &what))
    }

    pub(super) fn fit_choice(&self, choices: &[Choice], tree: &Tree) -> Option<Fitted> {
        let found = tree.to_value();
        if let Some(choice) = choices.iter().find(|choice| choice.value == found) {
            return Some(Fitted::exact(choice.value.clone()));
        }

        let text = tree.spelling()?;
        let said = folded_name(text);
        let mut matching = choices.iter().filter(|choice| match &choice.value {
            Value::String(name) => name == text || (!said.is_empty() && folded_name(name) == said),
            value => serde_json::from_str::<Value>(text.trim()).is_ok_and(|said| said == *value),
        });

        let choice = matching.next()?;
        if matching.next().is_some() {
            return Some(self.ambiguous(&Shape::Choice(choices.to_vec()), tree));
        }

        let fitted = Fitted::exact(choice.value.clone());
        if choice.value.as_str() == Some(text) {
            return Some(fitted);
        }
        let what = format!("read {} as {}", tree.found(), choice.value);
        Some(self.reported(fitted, RepairKind::Form, tree, &what))
    }
}

/// Returns whether a float has about the value that is written, rather than none or no finite one.
fn is_held(written: &str, is_single: bool) -> bool {
    let digits = written.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !digits.contains(|digit| matches!(digit, '1'..='9'));
    // The value is rounded to one of the type.
    let value = match is_single {
        true => written.parse::<f32>().map(f64::from),
        false => written.parse::<f64>(),
    };
    is_zero || value.is_ok_and(|value| value.is_finite() && value != 0.0)
}

/// Returns a number without a fraction as an integer.
fn integer(number: &str) -> Option<Number> {
    let whole = match number.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => number,
    };
    let signed = whole.parse::<i64>().map(Number::from);
    signed
        .or_else(|_| whole.parse::<u64>().map(Number::from))
        .ok()
}
