//! Texts, truth values, numbers and choices.

use cogwork_ask::{RepairKind, folded_name};
use serde_json::{Number, Value};

use super::number::number_in;
use super::{Fitted, Fitter, Kind};
use crate::shape::{Bounds, Choice, Shape, Text};
use crate::tree::{Node, Tree, is_plain_null};

impl Fitter<'_> {
    pub(super) fn fit_null(&self, tree: &Tree) -> Fitted {
        match &tree.node {
            Node::Null => Fitted::exact(Value::Null),
            Node::Plain(text) if is_plain_null(text) => Fitted::exact(Value::Null),
            Node::Text(text) | Node::Plain(text) if is_null_word(text) => {
                let what = self.named(&format!("read \"{}\" as null", text.trim()));
                Fitted::exact(Value::Null).repaired(RepairKind::Form, tree.line, what)
            }
            _ => self.mismatch(&Shape::Null, tree),
        }
    }

    pub(super) fn fit_boolean(&self, tree: &Tree) -> Fitted {
        match &tree.node {
            Node::Bool(value) => Fitted::exact(Value::Bool(*value)),
            Node::Plain(text) if matches!(text.as_str(), "true" | "True" | "TRUE") => {
                Fitted::exact(Value::Bool(true))
            }
            Node::Plain(text) if matches!(text.as_str(), "false" | "False" | "FALSE") => {
                Fitted::exact(Value::Bool(false))
            }
            Node::Text(text) | Node::Plain(text) => {
                let value = match text.trim().to_ascii_lowercase().as_str() {
                    "true" | "yes" => true,
                    "false" | "no" => false,
                    _ => return self.mismatch(&Shape::Boolean, tree),
                };

                let what = self.named("read a text as a truth value");
                Fitted::exact(Value::Bool(value)).repaired(RepairKind::TruthValue, tree.line, what)
            }
            _ => self.mismatch(&Shape::Boolean, tree),
        }
    }

    pub(super) fn fit_integer(&self, bounds: Bounds, tree: &Tree) -> Fitted {
        let shape = Shape::Integer(bounds);
        let (text, is_number) = match &tree.node {
            Node::Number(text) => (text.as_str(), true),
            Node::Plain(text) => (text.as_str(), text.parse::<i64>().is_ok()),
            Node::Text(text) => (text.as_str(), false),
            _ => return self.mismatch(&shape, tree),
        };

        let Some(found) = number_in(text, true) else {
            return self.mismatch(&shape, tree);
        };
        let Some(integer) = integer(&found) else {
            return self.no_integer(&found, bounds, tree);
        };

        let is_exact = is_number && text == integer.to_string();
        self.bounded(integer, is_exact, bounds, &shape, tree)
    }

    pub(super) fn fit_number(&self, shape: &Shape, tree: &Tree) -> Fitted {
        let &Shape::Number { bounds, is_single } = shape else {
            return self.mismatch(shape, tree);
        };
        let (text, is_number) = match &tree.node {
            Node::Number(text) => (text.as_str(), true),
            Node::Plain(text) => (text.as_str(), serde_json::from_str::<Number>(text).is_ok()),
            Node::Text(text) => (text.as_str(), false),
            _ => return self.mismatch(shape, tree),
        };

        let Some(found) = number_in(text, false) else {
            return self.mismatch(shape, tree);
        };
        match serde_json::from_str(&found) {
            Ok(number) if is_held(&found, &number, is_single) => {
                self.bounded(number, is_number, bounds, shape, tree)
            }
            Ok(_) => {
                let bits = if is_single { 32 } else { 64 };
                let message = format!("found {}; expected one of {bits} bits", tree.found());
                self.refused(Kind::Mismatch, tree, message)
            }
            Err(_) => self.mismatch(shape, tree),
        }
    }

    fn bounded(
        &self,
        number: Number,
        is_exact: bool,
        bounds: Bounds,
        shape: &Shape,
        tree: &Tree,
    ) -> Fitted {
        let value = number.as_f64().unwrap_or(f64::NAN);
        if !bounds.contain(value) {
            let expected = self.form.kind(shape);
            let message = format!("found {}; expected {expected}", tree.found());
            return self.refused(Kind::Mismatch, tree, message);
        }

        let fitted = Fitted::exact(Value::Number(number));
        if is_exact {
            return fitted;
        }
        let kind = match shape {
            Shape::Integer(_) => "an integer",
            _ => "a number",
        };
        let what = format!("read {} as {kind}", tree.found());
        fitted.repaired(RepairKind::Form, tree.line, self.named(&what))
    }

    fn no_integer(&self, found: &str, bounds: Bounds, tree: &Tree) -> Fitted {
        if found.contains('.') {
            return self.mismatch(&Shape::Integer(bounds), tree);
        }

        // The values of serde_json have no larger integers.
        let min = i64::MIN;
        let max = u64::MAX;
        let found = tree.found();
        let message = format!("found {found}; expected an integer of 64 bits, from {min} to {max}");
        self.refused(Kind::Mismatch, tree, message)
    }

    pub(super) fn fit_text(&mut self, expected: &Text, tree: &Tree) -> Fitted {
        let bounds = expected.bounds;
        let text = match &tree.node {
            Node::Plain(text) if is_plain_null(text) => {
                return self.mismatch(&Shape::Text(expected.clone()), tree);
            }
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => text.clone(),
            Node::Bool(value) => value.to_string(),
            _ => {
                let written = self.fit_written(tree).filter(|_| expected.is_any());
                return written
                    .unwrap_or_else(|| self.mismatch(&Shape::Text(expected.clone()), tree));
            }
        };

        let count = text.chars().count();
        #[expect(
            clippy::cast_precision_loss,
            reason = "no reply has so many characters"
        )]
        if !bounds.contain(count as f64) {
            let expected = bounds.count("characters");
            let message = format!("found {count} characters; expected {expected}");
            return self.refused(Kind::Mismatch, tree, message);
        }

        let fitted = Fitted::exact(Value::from(text));
        if matches!(tree.node, Node::Text(_) | Node::Plain(_)) {
            return fitted;
        }
        let what = format!("read {} as a text", tree.found());
        fitted.repaired(RepairKind::Quotes, tree.line, self.named(&what))
    }

    pub(super) fn fit_choice(&self, choices: &[Choice], tree: &Tree) -> Fitted {
        let mismatch = || self.mismatch(&Shape::Choice(choices.to_vec()), tree);
        let found = tree.to_value();
        if let Some(choice) = choices.iter().find(|choice| choice.value == found) {
            return Fitted::exact(choice.value.clone());
        }

        let text = match &tree.node {
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => text.clone(),
            Node::Bool(value) => value.to_string(),
            _ => return mismatch(),
        };

        let said = folded_name(&text);
        let mut matching = choices.iter().filter(|choice| match &choice.value {
            Value::String(name) => *name == text || (!said.is_empty() && folded_name(name) == said),
            value => serde_json::from_str::<Value>(text.trim()).is_ok_and(|said| said == *value),
        });

        match (matching.next(), matching.next()) {
            (Some(choice), None) => {
                let fitted = Fitted::exact(choice.value.clone());
                if choice.value.as_str() == Some(&text) {
                    return fitted;
                }
                let what = format!("read {} as {}", tree.found(), choice.value);
                fitted.repaired(RepairKind::Form, tree.line, self.named(&what))
            }
            (Some(_), Some(_)) => {
                let message = format!(
                    "{} may be meant in several ways; expected {}",
                    tree.found(),
                    self.form.kind(&Shape::Choice(choices.to_vec()))
                );
                self.refused(Kind::Ambiguous, tree, message)
            }
            (None, _) => mismatch(),
        }
    }
}

/// Returns whether a float has about the value that is written, rather than none or no finite one.
pub(super) fn is_held(written: &str, number: &Number, is_single: bool) -> bool {
    let digits = written.split(['e', 'E']).next().unwrap_or_default();
    let is_zero = !digits.contains(|digit| matches!(digit, '1'..='9'));
    let value = number.as_f64().unwrap_or(f64::NAN);
    let (least, most) = match is_single {
        true => (f64::from(f32::MIN_POSITIVE), f64::from(f32::MAX)),
        false => (f64::MIN_POSITIVE, f64::MAX),
    };
    is_zero || (least..=most).contains(&value.abs())
}

fn is_null_word(text: &str) -> bool {
    let text = text.trim().to_ascii_lowercase();
    matches!(text.as_str(), "" | "null" | "none" | "n/a" | "nil")
}

/// The number of decimal digits that a float keeps.
const MAX_FLOAT_DIGITS: usize = 15;

/// Returns a number without a fraction as an integer.
fn integer(number: &str) -> Option<Number> {
    let whole = match number.split_once('.') {
        Some((whole, zeros)) if zeros.bytes().all(|digit| digit == b'0') => whole,
        _ => number,
    };
    if let Ok(integer) = whole.parse::<i64>() {
        return Some(integer.into());
    }
    if let Ok(integer) = whole.parse::<u64>() {
        return Some(integer.into());
    }

    // Larger floats don't represent every integer, and those with more digits are rounded.
    let value = number.parse::<f64>().ok()?;
    let digits = number.bytes().filter(u8::is_ascii_digit).count();
    let is_whole = value.fract() == 0.0 && value.abs() < 9e15 && digits <= MAX_FLOAT_DIGITS;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the value is whole and small"
    )]
    is_whole.then(|| Number::from(value as i64))
}
