//! Values as models write them: a number in a sentence, a list in lines, text where another type is asked for.

use cogwork_read::charge;
use serde_json::{Map, Value};

use crate::{Parameter, ParameterType};

/// A name as a model may have written it: in capitals, with spaces, in bold.
pub(super) fn folded(name: &str) -> String {
    charge(1 + name.len());
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// A value in the type that is asked for, where what was written can be read as that; else as it is.
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
        (Value::Object(object), ParameterType::Map { values }) => object
            .into_iter()
            .map(|(name, value)| (name, inner(value, values)))
            .collect(),
        (Value::Object(object), ParameterType::Object { fields }) => {
            let of_kind = |(name, value)| match fields.get(&name) {
                Some(field) => (name, inner(value, field.kind())),
                None => (name, value),
            };
            object.into_iter().map(of_kind).collect()
        }
        (value, _) => value,
    }
}

/// The same inside of JSON, where a text is in quotes because it is one.
fn inner(value: Value, kind: &ParameterType) -> Value {
    if *kind == ParameterType::Any {
        value
    } else {
        typed(value, kind)
    }
}

/// JSON, unless it is a number that would be another text: `1.10` is a version or a price as well.
fn lossless(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        Value::Number(number) if number.to_string() != text.trim() => None,
        value => Some(value),
    }
}

fn read(text: &str, kind: &ParameterType) -> Option<Value> {
    charge(1 + text.len());
    let inside = unfenced(text);
    let json = || serde_json::from_str::<Value>(inside.trim_matches('`'));

    // JSON that is itself a text would be read again without end.
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
        ParameterType::Text { choices } => {
            let said = folded(text);
            choices
                .iter()
                .find(|choice| folded(choice) == said)
                .map(|choice| choice.as_str().into())
        }
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

/// `8`, and also `8/10`, `8 out of 10`, `8.`, `about 8` and `1,024`: the first number there is. `1,5` may
/// be one number or two, and is none.
fn number(text: &str) -> Option<Value> {
    let text = text.trim().trim_matches(['`', '*', '"', '\'', ' ']);
    let is_digit = |character: char| character.is_ascii_digit();
    let first = text.find(is_digit)?;

    if let Ok(whole) = text.parse::<i64>() {
        return Some(whole.into());
    }

    // The forms that JSON knows, such as `1e6`; `inf` and `nan` have no digit.
    if let Ok(number) = text.parse::<f64>() {
        return number.is_finite().then(|| exact(number));
    }

    let before = text.get(..first)?;
    let (before, point) = before
        .strip_suffix('.')
        .map_or((before, ""), |before| (before, "0."));
    let rest = text.get(first..)?;
    let end = rest.find(|character: char| !is_digit(character) && !matches!(character, '.' | ','));
    let written = rest
        .get(..end.unwrap_or(rest.len()))?
        .trim_end_matches(['.', ',']);
    let mut groups = written.split('.').next()?.split(',');
    let begins = groups.next()?.len() <= 3;

    if written.contains(',') && !(begins && groups.all(|group| group.len() == 3)) {
        return None;
    }

    let number: f64 = format!("{point}{}", written.replace(',', ""))
        .parse()
        .ok()?;
    let negative = before
        .strip_suffix(['-', '−'])
        .is_some_and(|before| !before.ends_with(char::is_alphanumeric));
    number
        .is_finite()
        .then(|| exact(if negative { -number } else { number }))
}

/// An integer where it is one, so that `8.0` is shown as `8`.
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

/// The items of a list in lines, without what marks them as such.
pub(super) fn items_of(text: &str) -> Value {
    charge(text.len());
    let items = text
        .lines()
        .map(|line| bare(line).to_owned())
        .filter(|line| !line.is_empty());
    items.map(Value::String).collect()
}

/// A line without its bullet or its number: the one that is followed by a space, so that `-5` stays.
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

/// A map in lines such as `total = 5` or `- total: 5`; `None` unless every line is one.
fn pairs_of(text: &str) -> Option<Value> {
    charge(text.len());
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

/// Whether a model wrote that there is no value.
pub(super) fn says_nothing(value: &Value, parameter: &Parameter) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) if parameter.is_required() => text.is_empty(),
        Value::String(text) => {
            text.len() <= 80 && matches!(folded(text).as_str(), "" | "none" | "na" | "null")
        }
        _ => false,
    }
}

pub(super) fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}

/// What stands in a fence, where that is all there is.
pub(super) fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let inside = text
        .strip_prefix("```")
        .and_then(|rest| rest.split_once('\n')?.1.strip_suffix("```"));
    inside
        .filter(|inside| !inside.contains("```"))
        .map_or(text, str::trim)
}
