use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;
use serde_json::Value;

use crate::calculation;

/// The maximum size of an answer that is checked, in bytes. A longer one is wrong.
const MOST_BYTES: usize = 64 * 1024;

/// The maximum size of a compiled regular expression in bytes.
const MOST_REGEX: usize = 1024 * 1024;

/// How it is decided whether an answer is right.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Check {
    /// The answer, or its last line, is this text. Case, white space and punctuation around it are
    /// ignored.
    Exact(String),
    /// The last number in the answer is this one.
    Number(Number),
    /// The answer lists these items, in any order, separated by commas, semicolons or lines.
    Set(Vec<String>),
    /// The last single capital letter in the answer is this one.
    Choice(String),
    /// The regular expression matches somewhere in the answer.
    Regex(String),
    /// The answer is JSON that is valid under this JSON Schema.
    Schema(Value),
    /// The answer is a calculation of `target` that uses each of `numbers` at most once, or exactly
    /// once with `all`.
    Calculation {
        /// The numbers that may be used.
        numbers: Vec<i64>,
        /// The result.
        target: i64,
        /// Whether every number must be used.
        #[serde(default)]
        all: bool,
    },
    /// The judge of the suite compares the answer with this one.
    Judge(String),
    /// A function of the program decides.
    #[serde(skip)]
    Function(Arc<dyn Fn(&str) -> bool + Send + Sync>),
}

/// An expected number.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// The largest difference that is still right. The default is a billionth of the number.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// The unit that must follow the number.
    #[serde(default)]
    pub unit: Option<String>,
}

impl From<f64> for Check {
    fn from(value: f64) -> Self {
        Self::Number(Number {
            value,
            tolerance: None,
            unit: None,
        })
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.expected())
    }
}

impl Check {
    /// Returns the check for an `answer` without further settings: numbers and texts that are
    /// numbers are compared as numbers, lists as sets, other values as texts.
    pub fn of_answer(answer: &Value) -> Self {
        match answer {
            Value::Number(number) => number.as_f64().unwrap_or(f64::NAN).into(),
            Value::String(text) => match number_of(text.trim()) {
                Some(number) => number.into(),
                None => Self::Exact(text.clone()),
            },
            Value::Array(items) => Self::Set(items.iter().map(plain).collect()),
            other => Self::Exact(plain(other)),
        }
    }

    /// Returns what is wrong with the check itself, and what would be accepted.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Self::Number(number) if !number.value.is_finite() => {
                Some("the number is not finite; expected a finite one".to_owned())
            }
            Self::Number(Number {
                tolerance: Some(tolerance),
                ..
            }) if !(tolerance.is_finite() && *tolerance >= 0.0) => {
                Some(format!("the tolerance is {tolerance}; expected at least 0"))
            }
            Self::Choice(letter) if !is_letter(letter) => Some(format!(
                "the choice is `{letter}`; expected a letter from A to Z"
            )),
            Self::Regex(pattern) => regex(pattern).err(),
            Self::Schema(schema) => is_valid(schema, &Value::Null).err(),
            _ => None,
        }
    }

    /// Returns whether an answer is right. Answers for a judge are never right here.
    pub fn accepts(&self, answer: &str) -> bool {
        if answer.len() > MOST_BYTES {
            return false;
        }

        match self {
            Self::Exact(text) => is_text(answer, text),
            Self::Number(number) => number.accepts(answer),
            Self::Set(items) => {
                let expected: BTreeSet<_> = items.iter().map(|item| plainly(item)).collect();
                items_of(answer) == expected
            }
            Self::Choice(letter) => last_letter(answer) == Some(letter),
            Self::Regex(pattern) => regex(pattern).is_ok_and(|regex| regex.is_match(answer)),
            Self::Schema(schema) => {
                let answer = serde_json::from_str(answer.trim());
                answer.is_ok_and(|answer| is_valid(schema, &answer) == Ok(true))
            }
            Self::Calculation {
                numbers,
                target,
                all,
            } => calculation::is_calculation(answer, numbers, *target, *all),
            Self::Judge(_) => false,
            Self::Function(accepts) => accepts(answer),
        }
    }

    /// Returns the expected answer, for people.
    pub fn expected(&self) -> String {
        match self {
            Self::Exact(text) | Self::Choice(text) | Self::Judge(text) => text.clone(),
            Self::Number(number) => match &number.unit {
                Some(unit) => format!("{} {unit}", number.value),
                None => number.value.to_string(),
            },
            Self::Set(items) => items.join(", "),
            Self::Regex(pattern) => format!("a text that matches {pattern}"),
            Self::Schema(_) => "JSON that is valid under the schema".to_owned(),
            Self::Calculation { target, .. } => format!("a calculation of {target}"),
            Self::Function(_) => "an answer that the program accepts".to_owned(),
        }
    }
}

fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Number {
    fn accepts(&self, answer: &str) -> bool {
        let Some((number, rest)) = last_number(answer) else {
            return false;
        };

        let tolerance = self.tolerance.unwrap_or(self.value.abs() * 1e-9);
        let is_close = (number - self.value).abs() <= tolerance;
        is_close && self.unit.as_ref().is_none_or(|unit| has_unit(rest, unit))
    }
}

/// Returns whether a text begins with a unit that isn't part of a longer word.
fn has_unit(rest: &str, unit: &str) -> bool {
    let rest = rest.trim_start().to_lowercase();
    let behind = rest.strip_prefix(unit.trim().to_lowercase().as_str());
    behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
}

/// Returns the last number in a text, and what follows it.
fn last_number(text: &str) -> Option<(f64, &str)> {
    let is_part = |character: char| character.is_ascii_digit() || ".,/eE".contains(character);
    let digit = text.rfind(|character: char| character.is_ascii_digit())?;
    let (before, rest) = text.split_at_checked(digit + 1)?;

    let start = before.trim_end_matches(is_part);
    let written = before.strip_prefix(start)?;
    let written = written.trim_start_matches(['e', 'E', ',', '/']);

    // In `5-3`, the sign isn't that of the number.
    let sign = before.strip_suffix(written)?.strip_suffix(['-', '−']);
    let is_negative = sign.is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    let number = number_of(written)?;
    Some((if is_negative { -number } else { number }, rest))
}

/// Reads a number such as `1,234.5`, `3/4` or `2e3`. Anything that isn't finite is no number.
fn number_of(text: &str) -> Option<f64> {
    if let Some((above, below)) = text.split_once('/') {
        let value = number_of(above)? / number_of(below)?;
        return value.is_finite().then_some(value);
    }

    // `parse` also reads words such as `inf`.
    let is_number = |first: char| first.is_ascii_digit() || "+-.".contains(first);
    let value: f64 = text.replace(',', "").parse().ok()?;
    (text.starts_with(is_number) && value.is_finite()).then_some(value)
}

fn is_text(answer: &str, expected: &str) -> bool {
    let expected = plainly(expected);
    let last = answer.trim().lines().next_back().unwrap_or_default();
    let named = last.rsplit_once(':').map_or(last, |(_, named)| named);

    [answer, last, named]
        .into_iter()
        .any(|answer| plainly(answer) == expected)
}

/// Returns a text in lower case, with single spaces and without punctuation around it.
fn plainly(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    text.trim_matches(|character: char| !character.is_alphanumeric())
        .to_owned()
}

fn items_of(answer: &str) -> BTreeSet<String> {
    let listed = answer.rsplit_once(':').map_or(answer, |(_, listed)| listed);
    let items = listed.split([',', ';', '\n']);
    let items = items.flat_map(|item| item.split(" and ")).map(plainly);
    items.filter(|item| !item.is_empty()).collect()
}

fn is_letter(text: &str) -> bool {
    text.len() == 1 && text.starts_with(|letter: char| letter.is_ascii_uppercase())
}

fn last_letter(answer: &str) -> Option<&str> {
    let words = answer.rsplit(|character: char| !character.is_alphanumeric());
    words.into_iter().find(|word| is_letter(word))
}

fn regex(pattern: &str) -> Result<Regex, String> {
    let built = RegexBuilder::new(pattern).size_limit(MOST_REGEX).build();
    built.map_err(|error| {
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        format!("not a regular expression: {reason}; expected one of the crate regex")
    })
}

/// Returns whether a value is valid under a schema, or what is wrong with the schema.
fn is_valid(schema: &Value, value: &Value) -> Result<bool, String> {
    let mut schemas = boon::Schemas::new();
    let mut compiler = boon::Compiler::new();

    let added = compiler.add_resource("answer.json", schema.clone());
    let compiled = compiler.compile("answer.json", &mut schemas);
    match (added, compiled) {
        (Ok(()), Ok(index)) => Ok(schemas.validate(value, index).is_ok()),
        _ => Err("not a valid JSON Schema; expected one of draft 2020-12".to_owned()),
    }
}
