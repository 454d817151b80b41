//! The form of a reply that has fields: lines such as `action: search`. A model of any size can write it,
//! and what it writes beside it (bold names, a fence, prose before, JSON instead) does no harm.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::Value;

use super::Reply;
use crate::quote::{List, Name};
use crate::{Mistyped, Parameter, ParameterType};

/// The line that holds the thought itself.
const THOUGHT: &str = "thought";

/// The line that names the stage that is next.
const NEXT: &str = "next";

/// Lines that a model adds of its own: what it imagines a tool to give. They are not read.
const INVENTED: &str = "observation";

/// Bytes of a reply that are read. What a model writes in one stage is a page, not a book.
const MAX_BYTES: usize = 256 * 1024;

/// What the model is told: the instruction, and the form of the reply if it has one.
pub(super) fn instruction(
    instruction: &str,
    fields: &BTreeMap<String, Parameter>,
    next: &[(String, String)],
    with_tools: bool,
) -> String {
    let mut text = instruction.to_owned();
    if !has_form(fields, next) {
        return text;
    }
    let unless = if with_tools { "If you call no tool, write" } else { "Write" };
    // Writing to a string does not fail.
    let _ = write!(
        text,
        "\n\n{unless} these lines, each name at the beginning of a line:\n{THOUGHT}: your thought"
    );
    for (name, parameter) in fields {
        let optional = if parameter.is_required() { "" } else { ", may be left out" };
        let _ = write!(text, "\n{name}: {} ({}{optional})", parameter.description(), form(parameter.kind()));
    }
    if next.len() > 1 {
        let _ = write!(text, "\n{NEXT}: the name of the stage that is next, one of");
        for (name, description) in next {
            let _ = write!(text, "\n  {name} ({description})");
        }
    }
    text
}

/// Whether any text will do.
fn has_form(fields: &BTreeMap<String, Parameter>, next: &[(String, String)]) -> bool {
    !fields.is_empty() || next.len() > 1
}

/// How a value is to be written.
fn form(kind: &ParameterType) -> String {
    match kind {
        ParameterType::List { items, .. } => match &**items {
            ParameterType::Text { .. } => {
                format!("{kind}, each item on a line of its own that begins with -")
            }
            items => format!("{kind}, as a JSON array of {}", plural(items)),
        },
        ParameterType::Object { .. } | ParameterType::Map { .. } => format!("{kind}, as JSON"),
        ParameterType::Any => "text or JSON".to_owned(),
        kind => kind.to_string(),
    }
}

/// What the items of a list are.
fn plural(items: &ParameterType) -> String {
    match items {
        ParameterType::Object { fields } => {
            let typed: Vec<_> =
                fields.iter().map(|(name, field)| format!("{name}: {}", field.kind())).collect();
            format!("objects {{{}}}", typed.join(", "))
        }
        kind => kind.name().to_owned(),
    }
}

/// Reads a reply.
///
/// # Errors
///
/// What is wrong with it, in words for the model.
pub(super) fn read(
    text: &str,
    fields: &BTreeMap<String, Parameter>,
    next: &[(String, String)],
) -> Result<Reply, String> {
    if text.len() > MAX_BYTES {
        return Err(format!("the reply has {} bytes; expected at most {MAX_BYTES}", text.len()));
    }
    let text = answer_of(text);
    if !has_form(fields, next) {
        return match text {
            "" => Err("the reply is empty; expected a text".to_owned()),
            text => Ok(Reply { text: text.to_owned(), ..Reply::default() }),
        };
    }
    let names: Vec<&str> = fields.keys().map(String::as_str).chain([THOUGHT, NEXT, INVENTED]).collect();
    let mut found = object(text, &names).unwrap_or_else(|| lines(text, &names));
    let mut reply = Reply { text: found.remove(THOUGHT).map(plain).unwrap_or_default(), ..Reply::default() };
    let mut problems = Vec::new();
    for (name, parameter) in fields {
        let value = found.remove(name.as_str()).map(|value| typed(value, parameter.kind()));
        match value.filter(|value| !says_nothing(value, parameter)) {
            Some(value) => {
                let mut faults: Vec<Mistyped> = Vec::new();
                parameter.kind().check(name, &value, &mut faults);
                problems.extend(faults.iter().map(ToString::to_string));
                reply.fields.insert(name.clone(), value);
            }
            None if parameter.is_required() => {
                problems.push(format!("`{name}` is missing, expected {}", parameter.kind()));
            }
            None => {}
        }
    }
    if next.len() > 1 {
        let named: Vec<&str> = next.iter().map(|(name, _)| name.as_str()).collect();
        let said = found.remove(NEXT).map(plain).unwrap_or_default();
        match stage_in(&said, &named) {
            Some(stage) => reply.next = Some(stage.to_owned()),
            None if said.is_empty() => {
                problems.push(format!("`{NEXT}` is missing, expected {}", List(&named, "or")))
            }
            None => problems.push(format!("`{NEXT}` is `{}`, expected {}", Name(&said), List(&named, "or"))),
        }
    }
    if problems.is_empty() { Ok(reply) } else { Err(problems.join("; ")) }
}

/// The reply without what a model thought aloud before it.
fn answer_of(text: &str) -> &str {
    let text = text.trim();
    match text.strip_prefix("<think>") {
        Some(rest) => rest.split_once("</think>").map_or("", |(_, answer)| answer).trim(),
        None => text,
    }
}

/// A name as a model may have written it: in capitals, with spaces, in bold.
fn folded(name: &str) -> String {
    name.chars().filter(|character| character.is_alphanumeric()).flat_map(char::to_lowercase).collect()
}

/// The fields of a reply that is a JSON object, perhaps in a fence.
fn object<'n>(text: &str, names: &[&'n str]) -> Option<BTreeMap<&'n str, Value>> {
    let inside = match text.strip_prefix("```") {
        Some(fenced) => fenced.split_once('\n')?.1.rsplit_once("```").map_or(fenced, |(inside, _)| inside),
        None => text,
    };
    let Value::Object(object) = serde_json::from_str(inside.trim()).ok()? else { return None };
    let known = |key: &str| names.iter().copied().find(|name| folded(name) == folded(key));
    Some(object.into_iter().filter_map(|(key, value)| Some((known(&key)?, value))).collect())
}

/// The fields of a reply in lines. What stands before the first of them belongs to the thought. A name that
/// comes twice counts the first time: what follows the form is often the form again, or an invented next
/// turn.
fn lines<'n>(text: &str, names: &[&'n str]) -> BTreeMap<&'n str, Value> {
    let folds: Vec<(String, &'n str)> = names.iter().map(|name| (folded(name), *name)).collect();
    let mut found: BTreeMap<&'n str, String> = BTreeMap::new();
    let mut current = Some(THOUGHT);
    let known = |name: &str| folds.iter().find(|(fold, _)| fold == name).map(|(_, name)| *name);
    let mut before = String::new();
    for line in text.lines().filter(|line| !line.trim_start().starts_with("```")) {
        match label(line).and_then(|(name, value)| Some((known(&name)?, value))) {
            Some((name, value)) => {
                current = (!found.contains_key(name)).then_some(name);
                if current.is_some() {
                    found.insert(name, value.to_owned());
                }
            }
            None => match current {
                Some(name) if !found.contains_key(name) => push_line(&mut before, line),
                Some(name) => push_line(found.entry(name).or_default(), line),
                None => {}
            },
        }
    }
    let before = before.trim();
    if !before.is_empty() {
        let thought = found.entry(THOUGHT).or_default();
        *thought = format!("{before}\n{thought}").trim().to_owned();
    }
    found.into_iter().map(|(name, value)| (name, Value::String(value.trim().to_owned()))).collect()
}

fn push_line(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(line);
}

/// Name and value of a line such as `**Action:** search`.
fn label(line: &str) -> Option<(String, &str)> {
    let (name, value) = line.split_once(':')?;
    // A name is short; a sentence with a colon in it is not one.
    let folded = (name.len() <= 80).then(|| folded(name)).filter(|name| !name.is_empty())?;
    Some((folded, value.trim_start_matches(['*', '`', '_', ' ', '\t'])))
}

/// A value read from text, where the type wants another: JSON, a number, a list of lines.
fn typed(value: Value, kind: &ParameterType) -> Value {
    let Value::String(text) = &value else { return value };
    let bare = text.trim().trim_matches(['`', '*', '"']);
    let json = || serde_json::from_str::<Value>(text.trim().trim_matches('`')).ok();
    let read = match kind {
        ParameterType::Text { choices } if choices.is_empty() => None,
        ParameterType::Text { choices } => {
            choices.iter().find(|choice| folded(choice) == folded(text)).map(|choice| choice.as_str().into())
        }
        ParameterType::Integer { .. } | ParameterType::Thought => {
            number(bare).map(|number| match number.fract() {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "checked to be an integer that a double holds exactly"
                )]
                0.0 if number.abs() < 9e15 => Value::from(number as i64),
                _ => Value::from(number),
            })
        }
        ParameterType::Number { .. } => number(bare).map(Value::from),
        ParameterType::Boolean => boolean(bare).map(Value::Bool),
        ParameterType::List { items, .. } => json().filter(Value::is_array).or_else(|| match **items {
            ParameterType::Text { .. } => Some(items_of(text)),
            _ => None,
        }),
        ParameterType::Object { .. } | ParameterType::Map { .. } => json().filter(Value::is_object),
        ParameterType::Any => json(),
    };
    read.unwrap_or(value)
}

/// `8`, and also `8/10`, `8 out of 10`, `8.` and `about 8`.
fn number(text: &str) -> Option<f64> {
    let start = text.find(|character: char| character.is_ascii_digit())?;
    let digits = text.get(start..)?;
    let end = digits.find(|character: char| !character.is_ascii_digit() && character != '.');
    let digits = digits.get(..end.unwrap_or(digits.len()))?.trim_end_matches('.');
    let negative = text.get(..start)?.trim_end().ends_with(['-', '−']);
    let number: f64 = digits.parse().ok()?;
    Some(if negative { -number } else { number })
}

fn boolean(text: &str) -> Option<bool> {
    let word = folded(text.split([' ', ',', '.', ';', '\n']).next()?);
    match word.as_str() {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// The items of a list in lines, without what marks them as such.
fn items_of(text: &str) -> Value {
    let mark = |line: &str| {
        let line = line.trim();
        let bare = line.trim_start_matches(|character: char| character.is_ascii_digit());
        let numbered = bare.len() < line.len() && bare.starts_with(['.', ')']);
        let bare = if numbered { bare.trim_start_matches(['.', ')']) } else { line };
        bare.trim_start_matches(['-', '*', '•', ' ']).trim().to_owned()
    };
    text.lines().map(mark).filter(|line| !line.is_empty()).map(Value::String).collect()
}

/// Whether a model wrote that there is no value.
fn says_nothing(value: &Value, parameter: &Parameter) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) if parameter.is_required() => text.is_empty(),
        Value::String(text) => matches!(folded(text).as_str(), "" | "none" | "na" | "null"),
        _ => false,
    }
}

/// The one stage that is named: alone, or in a sentence that names no other.
fn stage_in<'n>(said: &str, stages: &[&'n str]) -> Option<&'n str> {
    let said = folded(said);
    if let Some(stage) = stages.iter().find(|stage| folded(stage) == said) {
        return Some(stage);
    }
    let mut named = stages.iter().filter(|stage| said.contains(&folded(stage)));
    match (named.next(), named.next()) {
        (Some(stage), None) => Some(stage),
        _ => None,
    }
}

fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
