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
            Node::Number(number)
                if !serde_json::from_str(number)
                    .is_ok_and(|read| is_held(number, &read, false)) =>
            {
                let message = format!("found {}; expected one of 64 bits", tree.found());
                self.refused(Kind::Mismatch, tree, message)
            }
            // It was asked for as a text.
            Node::Text(text) if self.words.has_lines && self.place.len() == 1 => {
                match lines::any(text) {
                    Some(node) => Fitted::exact(Tree::new(tree.line, node).to_value()),
                    None => Fitted::exact(text.as_str().into()),
                }
            }
            _ => Fitted::exact(tree.to_value()),
        }
    }

    pub(super) fn fit_null(&self, tree: &Tree) -> Option<Fitted> {
        let null = Fitted::exact(Value::Null);
        match &tree.node {
            Node::Null => Some(null),
            Node::Plain(text) if is_plain_null(text) => Some(null),
            Node::Text(text) | Node::Plain(text) if is_null_word(text) => {
                let what = self.named(&format!("read \"{}\" as null", text.trim()));
                Some(null.repaired(RepairKind::Form, tree.line, what))
            }
            _ => None,
        }
    }

    pub(super) fn fit_boolean(&self, tree: &Tree) -> Option<Fitted> {
        let (text, is_plain) = match &tree.node {
            Node::Bool(value) => return Some(Fitted::exact(Value::Bool(*value))),
            Node::Text(text) => (text, false),
            Node::Plain(text) => (text, true),
            _ => return None,
        };
        let value = match text.trim().to_ascii_lowercase().as_str() {
            "true" | "yes" => true,
            "false" | "no" => false,
            _ => return None,
        };

        let fitted = Fitted::exact(Value::Bool(value));
        let is_yaml = matches!(
            text.as_str(),
            "true" | "True" | "TRUE" | "false" | "False" | "FALSE"
        );
        if is_plain && is_yaml {
            return Some(fitted);
        }
        let what = self.named("read a text as a truth value");
        Some(fitted.repaired(RepairKind::TruthValue, tree.line, what))
    }

    pub(super) fn fit_integer(&self, shape: &Shape, bounds: Bounds, tree: &Tree) -> Option<Fitted> {
        let (text, is_number) = number_text(tree)?;
        let found = number_in(text, true)?;
        let Some(integer) = integer(&found) else {
            if found.contains('.') {
                return None;
            }

            // The values of serde_json have no larger integers.
            let (found, min, max) = (tree.found(), i64::MIN, u64::MAX);
            let message =
                format!("found {found}; expected an integer of 64 bits, from {min} to {max}");
            return Some(self.refused(Kind::Mismatch, tree, message));
        };

        let is_exact = is_number && text == integer.to_string();
        Some(self.bounded(integer, is_exact, bounds, shape, tree))
    }

    pub(super) fn fit_number(&self, shape: &Shape, tree: &Tree) -> Option<Fitted> {
        let &Shape::Number { bounds, is_single } = shape else {
            return None;
        };
        let (text, is_number) = number_text(tree)?;
        let found = number_in(text, false)?;
        let number = serde_json::from_str(&found).ok()?;

        if is_held(&found, &number, is_single) {
            return Some(self.bounded(number, is_number, bounds, shape, tree));
        }
        let bits = if is_single { 32 } else { 64 };
        let message = format!("found {}; expected one of {bits} bits", tree.found());
        Some(self.refused(Kind::Mismatch, tree, message))
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

    pub(super) fn fit_text(&self, expected: &Text, tree: &Tree) -> Option<Fitted> {
        let bounds = expected.bounds;
        let text = match &tree.node {
            Node::Plain(text) if is_plain_null(text) => return None,
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => text.clone(),
            Node::Bool(value) => value.to_string(),
            _ if expected.may_be_long() => return self.fit_written(tree),
            _ => return None,
        };

        let count = text.chars().count();
        #[expect(
            clippy::cast_precision_loss,
            reason = "no reply has so many characters"
        )]
        if !bounds.contain(count as f64) {
            let expected = bounds.count("characters");
            let message = format!("found {count} characters; expected {expected}");
            return Some(self.refused(Kind::Mismatch, tree, message));
        }

        let fitted = Fitted::exact(Value::from(text));
        if matches!(tree.node, Node::Text(_) | Node::Plain(_)) {
            return Some(fitted);
        }
        let what = format!("read {} as a text", tree.found());
        Some(fitted.repaired(RepairKind::Quotes, tree.line, self.named(&what)))
    }

    pub(super) fn fit_choice(&self, choices: &[Choice], tree: &Tree) -> Option<Fitted> {
        let found = tree.to_value();
        if let Some(choice) = choices.iter().find(|choice| choice.value == found) {
            return Some(Fitted::exact(choice.value.clone()));
        }

        let text = match &tree.node {
            Node::Text(text) | Node::Plain(text) | Node::Number(text) => text.clone(),
            Node::Bool(value) => value.to_string(),
            _ => return None,
        };

        let said = folded_name(&text);
        let mut matching = choices.iter().filter(|choice| match &choice.value {
            Value::String(name) => *name == text || (!said.is_empty() && folded_name(name) == said),
            value => serde_json::from_str::<Value>(text.trim()).is_ok_and(|said| said == *value),
        });

        let choice = matching.next()?;
        if matching.next().is_some() {
            let message = format!(
                "{} may be meant in several ways; expected {}",
                tree.found(),
                self.form.kind(&Shape::Choice(choices.to_vec()))
            );
            return Some(self.refused(Kind::Ambiguous, tree, message));
        }

        let fitted = Fitted::exact(choice.value.clone());
        if choice.value.as_str() == Some(&text) {
            return Some(fitted);
        }
        let what = format!("read {} as {}", tree.found(), choice.value);
        Some(fitted.repaired(RepairKind::Form, tree.line, self.named(&what)))
    }
}

/// Returns what may be a number, and whether it is written as one.
fn number_text(tree: &Tree) -> Option<(&str, bool)> {
    match &tree.node {
        Node::Number(text) => Some((text, true)),
        Node::Plain(text) => Some((text, serde_json::from_str::<Number>(text).is_ok())),
        Node::Text(text) => Some((text, false)),
        _ => None,
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
