//! The form of a reply with fields: lines such as `action: search`.
//!
//! Models of any size can write these lines. Bold names, a code fence, prose before the first line
//! and JSON are accepted as well. A reply that was requested as JSON is first read as JSON.

use std::collections::BTreeMap;

use cogwork_llm::split_thinking;
use cogwork_text::{Name, NameList};
use cogwork_typed::ask::{FoundObject, Repair, RepairKind, find_object, stated_answer};
use serde_json::Value;

use super::StageReply;
use super::form::{Field, Form, THOUGHT};
use super::values::{folded, plain, says_nothing, typed, unfenced};
use crate::{Mistyped, Parameter, ParameterType};

/// A line that models add without being asked, with the imagined output of a tool. It is ignored.
pub(super) const INVENTED: &str = "observation";

/// The maximum length of a reply, in bytes.
const MAX_BYTES: usize = 256 * 1024;

/// The problem of a JSON object that was cut off.
const CUT_OFF: &str = "the JSON object isn't complete";

/// A reply, and how it was read.
pub(super) struct Read {
    pub(super) reply: StageReply,
    pub(super) repairs: Vec<Repair>,
}

impl Read {
    /// Returns whether the reply ends with a value that was left out because it is incomplete.
    pub(super) fn is_cut(&self) -> bool {
        let is_cut = |repair: &Repair| repair.kind == RepairKind::CutOff;
        self.repairs.iter().any(is_cut)
    }
}

impl From<StageReply> for Read {
    fn from(reply: StageReply) -> Self {
        Self {
            reply,
            repairs: Vec::new(),
        }
    }
}

/// Reads a reply in lines.
///
/// # Errors
///
/// Returns a description of the problems for the model.
pub(super) fn read(text: &str, form: &Form) -> Result<Read, String> {
    let text = answer_in(text)?;
    if form.is_free() {
        return read_text(text).map(Read::from);
    }

    read_found(found(text, form), form).map(Read::from)
}

/// Reads a reply in JSON. Lines are accepted as well.
///
/// # Errors
///
/// Returns a description of the problems for the model.
pub(super) fn read_json(text: &str, form: &Form) -> Result<Read, String> {
    let answer = answer_in(text)?;
    let names = names(form);
    let known = known(&names);

    let Some(object) = find_object(answer, |key| known(key).is_some()) else {
        return read_instead_of_json(answer, form);
    };

    let FoundObject {
        object,
        mut repairs,
        is_cut,
        ..
    } = object;

    // The lines are counted from the start of the raw reply.
    let before = answer.as_ptr().addr().saturating_sub(text.as_ptr().addr());
    let lines_before = text
        .get(..before)
        .map_or(0, |text| text.matches('\n').count());
    for repair in &mut repairs {
        repair.line += lines_before;
    }

    let found = object
        .into_iter()
        .filter_map(|(key, value)| Some((known(&key)?, value)))
        .collect();
    let reply = read_found(found, form);

    match reply {
        Ok(reply) => Ok(Read { reply, repairs }),
        Err(problem) if is_cut => Err(format!("{CUT_OFF}: {problem}")),
        Err(problem) => Err(problem),
    }
}

/// Reads a reply that has no JSON object, although one was requested.
fn read_instead_of_json(text: &str, form: &Form) -> Result<Read, String> {
    if form.is_free() {
        return read_text(text).map(Read::from);
    }

    let what = "read a reply that isn't a JSON object";
    let reply = read_found(found(text, form), form)
        .map_err(|problem| format!("the reply has no JSON object; expected one: {problem}"))?;

    Ok(Read {
        reply,
        repairs: vec![Repair::new(RepairKind::Form, 1, what)],
    })
}

/// Returns the part of a reply that follows the thinking.
fn answer_in(text: &str) -> Result<&str, String> {
    if text.len() > MAX_BYTES {
        return Err(format!(
            "the reply has {} bytes; expected at most {MAX_BYTES}",
            text.len()
        ));
    }

    Ok(answer_of(text))
}

/// Reads the values that were found in a reply.
fn read_found(mut found: BTreeMap<&str, Value>, form: &Form) -> Result<StageReply, String> {
    // Cloned, since a field may have this name.
    let thought = found.get(THOUGHT).cloned().map(plain);
    let mut reply = StageReply {
        text: thought.unwrap_or_default(),
        ..StageReply::default()
    };
    let mut problems = Vec::new();

    if form.is_free() && reply.text.is_empty() {
        problems.push(format!("`{THOUGHT}` is missing, expected a text"));
    }

    for Field {
        name, parameter, ..
    } in &form.fields
    {
        match read_field(form, name, parameter, found.remove(name.as_str())) {
            Ok(Some(value)) => drop(reply.fields.insert(name.clone(), value)),
            Ok(None) => {}
            Err(problem) => problems.push(problem),
        }
    }

    if form.has_choice() {
        match read_next(form, found.remove(form.next_label())) {
            Ok(stage) => reply.next = Some(stage),
            Err(problem) => problems.push(problem),
        }
    }

    if problems.is_empty() {
        Ok(reply)
    } else {
        Err(problems.join("; "))
    }
}

/// Returns the names of the values in a reply.
fn names(form: &Form) -> Vec<&str> {
    let fields = form.fields.iter().map(|field| field.name.as_str());
    fields
        .chain([THOUGHT, form.next_label(), INVENTED])
        .collect()
}

/// Returns the values in a reply by name.
fn found<'f>(text: &str, form: &'f Form) -> BTreeMap<&'f str, Value> {
    let names = names(form);

    object(unfenced(text), &names)
        .or_else(|| lines(text, &names))
        .or_else(|| object(text.get(text.find('{')?..=text.rfind('}')?)?, &names))
        .unwrap_or_else(|| only_field(text, form))
}

/// Reads a field. A field that isn't required may have no value.
fn read_field(
    form: &Form,
    name: &str,
    parameter: &Parameter,
    value: Option<Value>,
) -> Result<Option<Value>, String> {
    let kind = parameter.kind();
    let value = value.map(|value| typed(value, kind));

    match value.filter(|value| !says_nothing(value, parameter, form.is_literal(name))) {
        Some(value) => {
            let faults = kind.faults(name, &value);
            if faults.is_empty() {
                return Ok(Some(value));
            }

            let faults: Vec<String> = faults.iter().map(Mistyped::to_string).collect();
            Err(faults.join("; "))
        }
        None if parameter.is_required() => {
            let expected = form.expected(name, parameter);
            Err(format!("`{name}` is missing, expected {expected}"))
        }
        None => Ok(None),
    }
}

/// Reads the choice of the next stage.
fn read_next(form: &Form, value: Option<Value>) -> Result<String, String> {
    let label = form.next_label();
    let stages: Vec<&str> = form.next.iter().map(|(name, _)| name.as_str()).collect();
    let said = value.map(plain).unwrap_or_default();
    if let Some(stage) = stage_in(&said, &stages) {
        return Ok(stage.to_owned());
    }

    let expected = NameList::or(&stages);
    if said.is_empty() {
        return Err(format!("`{label}` is missing, expected {expected}"));
    }

    let said = Name(&said);
    Err(format!("`{label}` is `{said}`, expected {expected}"))
}

/// Reads a reply without a form.
fn read_text(text: &str) -> Result<StageReply, String> {
    let text = unlabelled(text);
    if text.is_empty() {
        return Err("the reply is empty; expected a text".to_owned());
    }

    Ok(StageReply {
        text,
        ..StageReply::default()
    })
}

/// Returns the text of a reply without a form.
///
/// A model that wrote forms in earlier stages may write one again. In that case, the text is its
/// answer, or else its thought.
fn unlabelled(text: &str) -> String {
    const ANSWER: &str = "answer";

    let first = text
        .lines()
        .next()
        .and_then(label)
        .map(|(name, _)| folded(name));

    let labelled = first.is_some_and(|first| first == THOUGHT || first == ANSWER);
    let mut found = labelled
        .then(|| lines(text, &[THOUGHT, ANSWER]))
        .flatten()
        .unwrap_or_default();
    let mut said = |name| {
        found
            .remove(name)
            .map(plain)
            .filter(|text| !text.is_empty())
    };

    said(ANSWER)
        .or_else(|| said(THOUGHT))
        .unwrap_or_else(|| text.to_owned())
}

/// Returns the reply without the thinking that precedes it.
fn answer_of(text: &str) -> &str {
    let Some(split) = split_thinking(text) else {
        return text.trim();
    };

    let answer = split.answer.trim();

    // A closing tag without an opening one and without text after it may be a part of the reply.
    let is_answered = split.is_opened || !answer.is_empty();
    if is_answered { answer } else { text.trim() }
}

/// Returns a function that finds a name: the exact one, or the first one that differs only in case
/// and punctuation.
fn known<'n>(names: &[&'n str]) -> impl Fn(&str) -> Option<&'n str> {
    let folds: Vec<(String, &'n str)> = names.iter().map(|name| (folded(name), *name)).collect();
    move |written| {
        let exact = folds.iter().find(|(_, name)| *name == written.trim());
        let found = exact.or_else(|| {
            let written = folded(written);
            folds
                .iter()
                .find(|(fold, _)| !fold.is_empty() && *fold == written)
        });

        found.map(|(_, name)| *name)
    }
}

/// Returns the fields of a reply that is a JSON object.
fn object<'n>(text: &str, names: &[&'n str]) -> Option<BTreeMap<&'n str, Value>> {
    let Value::Object(object) = serde_json::from_str(text).ok()? else {
        return None;
    };

    let known = known(names);
    Some(
        object
            .into_iter()
            .filter_map(|(key, value)| Some((known(&key)?, value)))
            .collect(),
    )
}

/// Returns the fields of a reply in lines, or `None` if no line starts with a known name.
///
/// Text before the first of these lines belongs to the thought. The first occurrence of a name
/// counts, since models often repeat the form or invent the next turn.
fn lines<'n>(text: &str, names: &[&'n str]) -> Option<BTreeMap<&'n str, Value>> {
    let known = known(names);
    let mut before = String::new();
    let mut found: BTreeMap<&'n str, String> = BTreeMap::new();
    let mut current: Option<&'n str> = None;

    for line in text.lines() {
        match label(line).and_then(|(name, value)| Some((known(name)?, value))) {
            Some((name, value)) => {
                current = (!found.contains_key(name)).then_some(name);
                if current.is_some() {
                    found.insert(name, value.to_owned());
                }
            }
            None if found.is_empty() => push_line(&mut before, line),
            None => {
                if let Some(text) = current.and_then(|name| found.get_mut(name)) {
                    push_line(text, line);
                }
            }
        }
    }

    if found.is_empty() {
        return None;
    }

    let before = whole(&before);
    if !before.is_empty() {
        let thought = found.entry(THOUGHT).or_default();
        *thought = format!("{before}\n{thought}");
    }

    Some(
        found
            .into_iter()
            .map(|(name, value)| (name, Value::String(whole(&value))))
            .collect(),
    )
}

fn push_line(text: &mut String, line: &str) {
    text.push('\n');
    text.push_str(line);
}

/// Returns a text without an unpaired code fence, since models put a fence around the form.
fn whole(text: &str) -> String {
    let is_fence = |line: &&str| line.trim_start().starts_with("```");
    let fences = text.lines().filter(is_fence).count();
    let Some(stray) = (fences % 2 == 1).then_some(fences) else {
        return text.trim().to_owned();
    };

    let mut seen = 0;
    let kept = text.lines().filter(|line| {
        seen += usize::from(is_fence(line));
        !(is_fence(line) && seen == stray)
    });
    kept.collect::<Vec<_>>().join("\n").trim().to_owned()
}

/// Returns the name and the value of a line such as `**Action:** search`.
fn label(line: &str) -> Option<(&str, &str)> {
    let (name, value) = line.split_once([':', '：'])?;

    // A longer name is a sentence with a colon, and one with quotes or braces is JSON.
    if name.len() > 80 || name.contains(['"', '{']) {
        return None;
    }

    let value = value.trim();
    let bare = name
        .trim_start_matches(|sign: char| sign.is_whitespace() || matches!(sign, '-' | '>' | '#'));
    let begins = bare
        .find(|sign| !matches!(sign, '*' | '_' | '`'))
        .and_then(|end| bare.get(..end));

    // The end of bold text may follow the colon or the value.
    let value = match begins.filter(|mark| !mark.is_empty() && !name.trim_end().ends_with(mark)) {
        Some(mark) => value
            .strip_prefix(mark)
            .or_else(|| value.strip_suffix(mark))
            .unwrap_or(value),
        None => value,
    };

    Some((name, value.trim()))
}

/// Returns the text as the value of the only field, if that field is a text or a list.
fn only_field<'f>(text: &str, form: &'f Form) -> BTreeMap<&'f str, Value> {
    let [
        Field {
            name, parameter, ..
        },
    ] = form.fields.as_slice()
    else {
        return BTreeMap::new();
    };

    let takes = match parameter.kind() {
        ParameterType::Text { choices } => choices.is_empty(),
        ParameterType::List { items, .. } => matches!(**items, ParameterType::Text { .. }),
        _ => false,
    };

    if !takes || form.has_choice() || !parameter.is_required() || text.is_empty() {
        return BTreeMap::new();
    }

    if !form.is_stated {
        return BTreeMap::from([(name.as_str(), Value::from(text))]);
    }

    match stated_answer(text) {
        Some(answer) => {
            BTreeMap::from([(name.as_str(), Value::from(answer)), (THOUGHT, text.into())])
        }
        None => BTreeMap::new(),
    }
}

/// Returns the stage that a text names, alone or in a sentence that names no other stage.
fn stage_in<'n>(said: &str, stages: &[&'n str]) -> Option<&'n str> {
    if let Some(stage) = known(stages)(said) {
        return Some(stage);
    }

    let said = folded(said);
    let is_named = |stage: &&&str| {
        let stage = folded(stage);
        !stage.is_empty() && said.contains(&stage)
    };

    let mut named = stages.iter().filter(is_named);
    match (named.next(), named.next()) {
        (Some(stage), None) => Some(stage),
        _ => None,
    }
}
