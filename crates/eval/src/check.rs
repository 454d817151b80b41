use std::collections::BTreeSet;
use std::ops::Range;

use cogwork_text::{check_by_schema, check_schema};
use cogwork_typed::ask::stated_answer;
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::calculation::Calculation;

/// The maximum size of an answer that is checked, in bytes. A longer one is wrong.
const MOST_BYTES: usize = 64 * 1024;

/// How it is decided whether an answer is right.
#[derive(Debug, Clone, Deserialize)]
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
    /// The letter that the answer states or begins with, as in `B. Because …`, is this one, or else the
    /// last single capital letter in it.
    Choice(char),
    /// The regular expression matches somewhere in the answer.
    Regex(String),
    /// The answer is JSON that is valid under this JSON Schema.
    Schema(Value),
    /// The last line with a calculation in the answer uses the right numbers, and has the right result.
    Calculation(Calculation),
    /// The judge of the suite compares the answer with this one.
    Judge(String),
    /// A function of the program decides.
    #[serde(skip)]
    Function(fn(&str) -> bool),
}

/// An expected number.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Number {
    /// The number.
    pub value: f64,
    /// The largest difference that is still right. The default is a billionth of the number.
    pub tolerance: Option<f64>,
    /// The unit that must follow the number.
    pub unit: Option<String>,
}

impl From<f64> for Check {
    fn from(value: f64) -> Self {
        Self::Number(Number {
            value,
            ..Number::default()
        })
    }
}

/// What comes before the answer of a problem of GSM8K (Cobbe et al. 2021, "Training Verifiers to
/// Solve Math Word Problems").
const GSM8K: &str = "####";

impl Check {
    /// Returns the check for an `answer` without further settings: numbers and texts that are
    /// numbers are compared as numbers, lists as sets, other values as texts. Of a text in the form of
    /// GSM8K, the part after `####` counts.
    pub fn of_answer(answer: &Value) -> Self {
        match answer {
            Value::Number(number) => number.as_f64().unwrap_or(f64::NAN).into(),
            Value::Array(items) => Self::Set(items.iter().map(plain).collect()),
            other => {
                let text = plain(other);
                let text = text.rsplit(GSM8K).next().unwrap_or_default().trim();
                match last_number(text) {
                    Some((number, place)) if place == (0..text.len()) => number.into(),
                    _ => Self::Exact(text.to_owned()),
                }
            }
        }
    }

    /// Returns what is wrong with the check itself, and what would be accepted.
    pub(crate) fn problem(&self) -> Option<String> {
        match self {
            Self::Number(number) => {
                let negative = number.tolerance.filter(|tolerance| *tolerance < 0.0);
                negative.map(|found| format!("the tolerance is {found}; expected at least 0"))
            }
            Self::Choice(letter) if !letter.is_ascii_alphabetic() => Some(format!(
                "the choice is `{letter}`; expected a letter from A to Z"
            )),
            Self::Regex(pattern) => regex(pattern).err(),
            Self::Schema(schema) => {
                let problem = check_schema(schema).err();
                problem.map(|problem| format!("not a JSON Schema: {problem}"))
            }
            _ => None,
        }
    }

    /// Returns whether an answer is right. Answers for a judge are never right here.
    pub fn accepts(&self, answer: &str) -> bool {
        // No right answer is this long, and some checks read it several times.
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
            Self::Choice(letter) => chosen_letter(answer) == Some(letter.to_ascii_uppercase()),
            Self::Regex(pattern) => regex(pattern).is_ok_and(|regex| regex.is_match(answer)),
            Self::Schema(schema) => {
                let answer = serde_json::from_str(answer);
                answer.is_ok_and(|answer| check_by_schema(schema, &answer).is_ok())
            }
            Self::Calculation(calculation) => calculation.accepts(answer),
            Self::Judge(_) => false,
            Self::Function(accepts) => accepts(answer),
        }
    }
}

/// Returns a value as a person would write it.
fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

impl Number {
    fn accepts(&self, answer: &str) -> bool {
        let tolerance = self.tolerance.unwrap_or(self.value.abs() * 1e-9);
        last_number(answer).is_some_and(|(number, place)| {
            let is_close = (number - self.value).abs() <= tolerance;
            let rest = answer.get(place.end..).unwrap_or_default();
            is_close && self.unit.as_ref().is_none_or(|unit| has_unit(rest, unit))
        })
    }
}

/// Returns whether a text begins with a unit that isn't part of a longer word.
fn has_unit(rest: &str, unit: &str) -> bool {
    let rest = rest.trim_start().to_lowercase();
    let behind = rest.strip_prefix(unit.trim().to_lowercase().as_str());
    behind.is_some_and(|behind| !behind.starts_with(char::is_alphanumeric))
}

/// Returns the last number in a text, such as `-1,234.5`, `3/4`, `\frac{3}{4}` or
/// `2e3`, and its place.
fn last_number(text: &str) -> Option<(f64, Range<usize>)> {
    let digits = r"(?:[0-9][0-9,]*(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?";
    let plain = format!("(?<above>{digits})(?:/(?<below>{digits}))?");
    // As models write fractions in LaTeX.
    let latex = format!(r"\\[dt]?frac\{{(?<over>{digits})\}}\{{(?<under>{digits})\}}");
    let number = format!("(?<sign>[-−+]?)(?:{plain}|{latex})");
    let found = Regex::new(&number).ok()?.captures_iter(text).last()?;
    let place = found.get_match().range();

    let part = |name| {
        let digits = found.name(name)?.as_str().replace(',', "");
        digits.parse::<f64>().ok()
    };
    let above = part("above").or_else(|| part("over"))?;
    let below = part("below").or_else(|| part("under"));
    let value = above / below.unwrap_or(1.0);

    // In `5-3`, the sign isn't that of the number.
    let before = text.get(..place.start).unwrap_or_default();
    let is_sign = !before.ends_with(char::is_alphanumeric);
    let is_negative = is_sign && matches!(found.name("sign")?.as_str(), "-" | "−");
    let value = if is_negative { -value } else { value };
    value.is_finite().then_some((value, place))
}

fn is_text(answer: &str, expected: &str) -> bool {
    // Models like to end with a line such as `The answer is: Oslo`.
    let last = answer.trim().lines().next_back().unwrap_or_default();
    let named = last.rsplit_once(':').map_or(last, |(_, named)| named);

    let mut readings = [answer, last, named].into_iter().map(plainly);
    readings.any(|reading| reading == plainly(expected))
}

/// Returns a text in lower case, with single spaces and without punctuation around it.
fn plainly(text: &str) -> String {
    let words: Vec<_> = text.split_whitespace().collect();
    let text = words.join(" ").to_lowercase();
    text.trim_matches(|character: char| !character.is_alphanumeric())
        .to_owned()
}

fn items_of(answer: &str) -> BTreeSet<String> {
    // Words before a colon, as in `Knights: Ada and Ben`, are no items.
    let listed = answer.rsplit_once(':').map_or(answer, |(_, listed)| listed);
    let items = listed.split([',', ';', '\n']);
    let items = items.flat_map(|item| item.split(" and ")).map(plainly);
    items.filter(|item| !item.is_empty()).collect()
}

/// Returns the letter that an answer states or begins with, or else the last capital one.
fn chosen_letter(answer: &str) -> Option<char> {
    // Without a mark or an end behind the letter, `A car` and `I'm` would begin with a choice.
    let opening = Regex::new(r"^[^\p{L}\p{N}]*([A-Za-z]) *(?:[^\p{L}\p{N} ,'’]|$)").ok()?;
    let opening = |text: &str| opening.captures(text)?.get(1)?.as_str().parse().ok();

    let stated = stated_answer(answer);
    let stated = stated.and_then(|stated| opening(stated).or_else(|| capitals(stated).next()));
    let chosen: Option<char> = stated.or_else(|| opening(answer));
    let chosen = chosen.or_else(|| capitals(answer).next_back())?;
    Some(chosen.to_ascii_uppercase())
}

/// Returns the capital letters that are words, without the pronoun.
fn capitals(text: &str) -> impl DoubleEndedIterator<Item = char> {
    let words = text.split(|character: char| !character.is_alphanumeric());
    let letters = words.filter_map(|word| word.parse().ok());
    letters.filter(|letter: &char| letter.is_ascii_uppercase() && *letter != 'I')
}

fn regex(pattern: &str) -> Result<Regex, String> {
    Regex::new(pattern).map_err(|error| {
        // The lines before show the pattern.
        let error = error.to_string();
        let reason = error.lines().last().unwrap_or_default();
        format!("not a regular expression: {reason}; expected one of the crate regex")
    })
}
