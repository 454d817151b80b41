//! Reads values as models write them: a number in a sentence, a list in lines, or text for another
//! type.

use cogwork_typed::ask::folded_name;
use serde_json::{Map, Value};

use super::map_entries::object_of;
use crate::{Parameter, ParameterType};

/// Returns a name in lower case, without spaces and punctuation.
pub(super) fn folded(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Converts a value to the expected type if it can be read as that type. Other values aren't
/// changed.
pub(crate) fn typed(value: Value, kind: &ParameterType) -> Value {
    match (value, kind) {
        (Value::String(text), kind) => read(&text, kind).unwrap_or(Value::String(text)),
        (value @ (Value::Number(_) | Value::Bool(_)), ParameterType::Text { .. }) => {
            value.to_string().into()
        }
        (Value::Number(number), ParameterType::Integer { .. } | ParameterType::Thought) => number
            .as_f64()
            .filter(|_| number.is_f64())
            .map_or(Value::Number(number), exact),
        (Value::Array(list), ParameterType::List { items, .. }) => {
            list.into_iter().map(|item| inner(item, items)).collect()
        }
        (Value::Array(entries), ParameterType::Map { .. }) => match object_of(&entries) {
            Some(object) => typed(object, kind),
            None => Value::Array(entries),
        },
        (Value::Object(object), ParameterType::Map { values }) => object
            .into_iter()
            .map(|(name, value)| (name, inner(value, values)))
            .collect(),
        (Value::Object(object), ParameterType::Object { fields }) => {
            // In a reply of a schema, an optional field without a value is null.
            let is_omitted = |name: &str, value: &Value| {
                value.is_null() && fields.get(name).is_some_and(|field| !field.is_required())
            };
            let of_kind = |(name, value)| match fields.get(&name) {
                Some(field) => (name, inner(value, field.kind())),
                None => (name, value),
            };

            object
                .into_iter()
                .filter(|(name, value)| !is_omitted(name, value))
                .map(of_kind)
                .collect()
        }
        (value, _) => value,
    }
}

/// Converts a value inside JSON, where a quoted text is meant to be a text.
fn inner(value: Value, kind: &ParameterType) -> Value {
    if *kind == ParameterType::Any {
        value
    } else {
        typed(value, kind)
    }
}

/// Reads JSON, except for a number that would be written differently: `1.10` may be a version or a
/// price.
fn lossless(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        Value::Number(number) if number.to_string() != text.trim() => None,
        value => Some(value),
    }
}

fn read(text: &str, kind: &ParameterType) -> Option<Value> {
    let inside = unfenced(text);
    let json = || serde_json::from_str::<Value>(inside.trim_matches('`'));

    // JSON that contains a text would otherwise be read again and again.
    let of_kind = |value: Value| {
        if value.is_string() {
            value
        } else {
            typed(value, kind)
        }
    };

    match kind {
        ParameterType::Text { choices } if choices.is_empty() => {
            (inside.len() < text.len()).then(|| inside.into())
        }
        ParameterType::Text { choices } => choice_of(text, choices).map(Value::from),
        ParameterType::Integer { .. } | ParameterType::Number { .. } | ParameterType::Thought => {
            number(inside)
        }
        ParameterType::Boolean => boolean(inside).map(Value::Bool),
        ParameterType::List { items, .. } => match json() {
            Ok(list @ Value::Array(_)) => Some(of_kind(list)),
            _ if matches!(**items, ParameterType::Text { .. } | ParameterType::Any) => {
                Some(items_of(inside))
            }
            _ => None,
        },
        ParameterType::Map { .. } => {
            let map = json()
                .ok()
                .filter(Value::is_object)
                .or_else(|| pairs_of(inside));
            map.map(of_kind)
        }
        ParameterType::Object { .. } => json().ok().filter(Value::is_object).map(of_kind),
        ParameterType::Any => lossless(inside.trim_matches('`')),
    }
}

/// Returns the choice that a text spells, unless it may be several of them.
fn choice_of<'c>(text: &str, choices: &'c [String]) -> Option<&'c str> {
    let exact = choices.iter().find(|choice| *choice == text.trim());
    if let Some(choice) = exact {
        return Some(choice);
    }

    let said = folded_name(text);
    let mut spelled = choices
        .iter()
        .filter(|choice| !said.is_empty() && folded_name(choice) == said);
    let choice = spelled.next()?;
    spelled.next().is_none().then_some(choice)
}

/// Returns the first number in a text such as `8`, `8/10`, `8 out of 10`, `8.`, `about 8` or
/// `1,024`. `1,5` may be one number or two, and isn't accepted.
fn number(text: &str) -> Option<Value> {
    let text = text.trim().trim_matches(['`', '*', '"', '\'', ' ']);
    let is_digit = |character: char| character.is_ascii_digit();
    let first = text.find(is_digit)?;

    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }

    // The forms that JSON has, such as `1e6`. `inf` and `nan` have no digits.
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then(|| exact(number));
    }

    let before = text.get(..first)?;
    let before_point = before.strip_suffix('.');
    let point = before_point.map_or("", |_| "0.");

    let rest = text.get(first..)?;
    let end = rest.find(|character: char| !is_digit(character) && !matches!(character, '.' | ','));
    let written = rest.get(..end.unwrap_or(rest.len()))?;
    let written = written.trim_end_matches(['.', ',']);
    if written.contains(',') && !has_thousands(written) {
        return None;
    }

    let digits = written.replace(',', "");
    let number: f64 = format!("{point}{digits}").parse().ok()?;
    let is_negative = before_point
        .unwrap_or(before)
        .strip_suffix(['-', '−'])
        .is_some_and(|before| !before.ends_with(char::is_alphanumeric));

    let number = if is_negative { -number } else { number };
    number.is_finite().then(|| exact(number))
}

/// Returns whether the commas of a number separate thousands.
fn has_thousands(number: &str) -> bool {
    let whole = number.split('.').next().unwrap_or_default();
    let mut groups = whole.split(',');
    let is_short = groups.next().is_some_and(|first| first.len() <= 3);

    is_short && groups.all(|group| group.len() == 3)
}

/// Returns an integer for a number without a fraction, so that `8.0` is written as `8`.
fn exact(number: f64) -> Value {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "checked to be an integer that a double holds exactly"
    )]
    match number.fract() {
        0.0 if number.abs() < 9e15 => Value::from(number as i64),
        _ => Value::from(number),
    }
}

fn boolean(text: &str) -> Option<bool> {
    let word = folded(text.split([' ', ',', '.', ';', ':', '\n']).next()?);
    match word.as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// Returns the items of a list in lines, without bullets and numbers.
pub(super) fn items_of(text: &str) -> Value {
    let items = text
        .lines()
        .map(|line| bare(line).to_owned())
        .filter(|line| !line.is_empty());
    items.map(Value::String).collect()
}

/// Returns a line without its bullet or number, which must be followed by a space, so that `-5` is
/// kept.
fn bare(line: &str) -> &str {
    let line = line.trim();
    let bullet = line.strip_prefix(['-', '*', '•', '–']);
    let number = line.trim_start_matches(|character: char| character.is_ascii_digit());
    let number = (number.len() < line.len())
        .then(|| number.strip_prefix(['.', ')']))
        .flatten();
    let rest = bullet
        .or(number)
        .filter(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace));

    rest.map_or(line, str::trim)
}

/// Reads a map from lines such as `total = 5` or `- total: 5`. Returns `None` if any line is
/// different.
fn pairs_of(text: &str) -> Option<Value> {
    let pair = |line: &str| {
        let (name, value) = bare(line).split_once(['=', ':'])?;
        let name = name.trim().trim_matches(['`', '*', '"']);
        let value = value.trim();
        let read = lossless(value).unwrap_or_else(|| Value::from(value));

        (!name.is_empty()).then(|| (name.to_owned(), read))
    };

    let lines = text.lines().filter(|line| !line.trim().is_empty());
    let pairs = lines.map(pair).collect::<Option<Map<_, _>>>()?;
    (!pairs.is_empty()).then(|| pairs.into())
}

/// Returns whether a model wrote that there is no value. In a literal parameter, a text such as
/// `none` is a value, and so is a choice of that name.
pub(super) fn says_nothing(value: &Value, parameter: &Parameter, is_literal: bool) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) if parameter.kind().has_choice(text) => false,
        Value::String(text) if parameter.is_required() || is_literal => text.is_empty(),
        Value::String(text) => is_none(text),
        _ => false,
    }
}

/// Returns whether a text is a word such as `none`, with which models fill in what they leave out.
pub(crate) fn is_none(text: &str) -> bool {
    text.len() <= 80 && matches!(folded(text).as_str(), "" | "none" | "na" | "null")
}

pub(super) fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// Returns the text inside a code fence, if the text consists only of the fence.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n')?.1.strip_suffix("```"));
    inside
        .filter(|inside| !inside.contains("```"))
        .map_or(text, str::trim)
}
