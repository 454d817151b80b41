//! The form of a reply: its keys, and what a reply with them means.

use std::collections::BTreeMap;

use cogwork_llm::ToolCall;
use cogwork_llm::backend::ProviderData;
use cogwork_text::{Name, NameList};
use cogwork_typed::ask::{Format, Repair};
use cogwork_typed::{AnswerKey, AnswerReader, GrowingText, ReadAnswer, without_thinking};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::session::ThoughtDraft;

/// The key of the thought itself.
pub(super) const THOUGHT: &str = "thought";

/// The key of the name of the next stage.
pub(crate) const NEXT: &str = "next";

/// A line that models add without being asked, with the imagined output of a tool.
const INVENTED: &str = "observation";

/// A usable reply to a question.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct StageReply {
    /// The thought: the text without the fields.
    pub text: String,
    /// The fields, each of the expected type.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// The stage that the model chose as the next one, if it had a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
    /// The tools that the model calls. If there are any, fields may be missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// What the server wants back with the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provider_data: Option<ProviderData>,
    /// What was corrected so that the reply could be read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<Repair>,
}

impl StageReply {
    /// Returns the fields as a value of the type that [asked](super::Ask::of) for them, with the text
    /// as its `thought`.
    ///
    /// # Errors
    ///
    /// Returns what doesn't fit the type.
    pub(crate) fn value<T: DeserializeOwned>(&self) -> Result<T, String> {
        let fields = self.fields.iter();
        let fields = fields.map(|(name, value)| (name.clone(), value.clone()));
        let thought = (THOUGHT.to_owned(), Value::from(self.text.as_str()));

        let value: Map<String, Value> = fields.chain([thought]).collect();
        serde_json::from_value(value.into()).map_err(|error| error.to_string())
    }

    /// Returns the thought with the fields as parameters, and with another text.
    pub(crate) fn draft(&self, stage: &str, text: &str) -> ThoughtDraft {
        let draft = ThoughtDraft::at(stage, text);
        self.fields.iter().fold(draft, |draft, (name, value)| {
            draft.with(name.as_str(), value.clone())
        })
    }

    /// Returns whether a field is true.
    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.fields.get(name) == Some(&Value::Bool(true))
    }

    /// Returns a text field. It is empty if the field is missing or isn't a text.
    pub fn field(&self, name: &str) -> &str {
        self.fields
            .get(name)
            .and_then(Value::as_str)
            .unwrap_or_default()
    }
}

/// The values of a reply: lines such as `action: search`, or the keys of a JSON object.
#[derive(Clone, Default)]
pub(super) struct Form {
    /// In the order in which the model writes them.
    pub(super) keys: Vec<AnswerKey>,
    /// The keys of which a text such as `none` is a value, even if they may be left out.
    pub(super) literal: Vec<String>,
    /// Whether a reply without keys has to [state](cogwork_typed::ask::stated_answer) its answer.
    pub(super) is_stated: bool,
    /// The names and the descriptions of the stages from which the model chooses the next one.
    pub(super) next: Vec<(String, String)>,
}

impl Form {
    /// Adds a key, which replaces one of the same name.
    pub(super) fn add(&mut self, key: AnswerKey) {
        match self.key_mut(key.name()) {
            Some(known) => *known = key,
            None => self.keys.push(key),
        }
    }

    pub(super) fn key_mut(&mut self, name: &str) -> Option<&mut AnswerKey> {
        self.keys.iter_mut().find(|key| key.name() == name)
    }

    /// Returns whether any text is a valid reply.
    pub(super) fn is_free(&self) -> bool {
        self.keys.is_empty() && self.next.is_empty()
    }

    /// Returns the reader of replies, which also describes them.
    pub(super) fn reader(&self) -> AnswerReader<Value> {
        let text = json!({"type": "string"});
        let mut keys = self.keys.clone();
        let has = |keys: &[AnswerKey], name: &str| keys.iter().any(|key| key.name() == name);

        if !has(&keys, THOUGHT) {
            let thought = AnswerKey::new(THOUGHT, "your thought", &text);
            let is_free = self.is_free();
            keys.insert(0, if is_free { thought } else { thought.wanted() });
        }
        if !self.next.is_empty() {
            let stages = self.next.iter();
            let stages = stages.map(|(name, what)| json!({"const": name, "description": what}));
            let stages = json!({"oneOf": stages.collect::<Vec<_>>()});
            let next = AnswerKey::new(NEXT, "the name of the stage that is next", &text);
            keys.push(next.offering(&stages));
        }

        // Lines that models write in replies to other questions, too.
        let mut left_out = vec![NEXT, INVENTED];
        left_out.retain(|name| !has(&keys, name));
        let reader = AnswerReader::of_keys(keys).leaving_out(left_out);
        if self.is_stated {
            reader
        } else {
            reader.with_prose()
        }
    }

    /// Returns the thought of a reply that is still arriving.
    pub(super) fn growing_thought(&self) -> GrowingText<Value> {
        GrowingText::new(self.reader().in_lines(), THOUGHT)
    }

    /// Reads a reply that was requested in a format.
    ///
    /// # Errors
    ///
    /// Returns a description of the problems for the model.
    pub(super) fn read(&self, format: Format, text: &str) -> Result<StageReply, String> {
        let reader = match format.is_json() {
            true => self.reader(),
            false if self.is_free() => return read_text(text),
            false => self.reader().in_lines(),
        };

        let ReadAnswer { value, repairs, .. } =
            reader.read(text).map_err(|problem| problem.to_string())?;
        let reply = self.reply(value)?;
        Ok(StageReply { repairs, ..reply })
    }

    fn reply(&self, value: Value) -> Result<StageReply, String> {
        let mut found = match value {
            Value::Object(found) => found,
            _ => Map::new(),
        };
        let mut reply = StageReply {
            text: found.get(THOUGHT).map(trimmed).unwrap_or_default(),
            ..StageReply::default()
        };
        let mut problems = Vec::new();

        if self.is_free() && reply.text.is_empty() {
            problems.push(format!("`{THOUGHT}` is empty, expected a text"));
        }
        for key in &self.keys {
            let name = key.name();
            let value = found.remove(name);
            match value.filter(|value| !self.says_nothing(key, value)) {
                Some(Value::String(text)) => {
                    drop(reply.fields.insert(name.to_owned(), text.trim().into()));
                }
                Some(value) => drop(reply.fields.insert(name.to_owned(), value)),
                None if key.is_required() => {
                    problems.push(format!("`{name}` is empty, expected a value"));
                }
                None => {}
            }
        }
        if !self.next.is_empty() {
            match self.stage_in(&found) {
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

    /// Returns whether a model wrote that there is no value.
    fn says_nothing(&self, key: &AnswerKey, value: &Value) -> bool {
        let is_literal = || self.literal.iter().any(|name| name == key.name());
        match value {
            Value::Null => true,
            Value::String(text) if key.is_required() || is_literal() => text.trim().is_empty(),
            Value::String(text) => is_none(text),
            _ => false,
        }
    }

    /// Returns the stage that a reply names, alone or in a sentence that names no other one.
    fn stage_in(&self, found: &Map<String, Value>) -> Result<String, String> {
        let said = found.get(NEXT).map(trimmed).unwrap_or_default();
        let stages = || self.next.iter().map(|(name, _)| name);

        let written = letters(&said);
        let exact = stages().find(|stage| **stage == said || letters(stage) == written);
        let mut named = stages().filter(|stage| written.contains(&letters(stage)));
        let only = named.next().filter(|_| named.next().is_none());

        match exact.or(only) {
            Some(stage) => Ok(stage.clone()),
            None => {
                let stages: Vec<&String> = stages().collect();
                let expected = NameList::or(&stages);
                Err(format!(
                    "`{NEXT}` is `{}`, expected {expected}",
                    Name(&said)
                ))
            }
        }
    }
}

/// Reads a reply without a form.
///
/// A model that wrote forms in earlier stages may write one again. In that case, the text is its
/// answer, or else its thought.
fn read_text(text: &str) -> Result<StageReply, String> {
    const ANSWER: &str = "answer";

    let text = without_thinking(text);
    let is_labelled = text
        .split_once([':', '：'])
        .is_some_and(|(name, _)| [THOUGHT, ANSWER].contains(&letters(name).as_str()));
    let keys = [ANSWER, THOUGHT].map(|key| AnswerKey::new(key, "", &json!({"type": "string"})));
    let reader = AnswerReader::of_keys(keys.map(AnswerKey::optional)).in_lines();
    let labelled = reader.read(text).ok().filter(|_| is_labelled);

    let value = labelled.map(|read| read.value).unwrap_or_default();
    let labelled = [ANSWER, THOUGHT].map(|key| value.get(key).map(trimmed).unwrap_or_default());
    let labelled = labelled.into_iter().find(|text| !text.is_empty());
    match labelled.unwrap_or_else(|| text.to_owned()) {
        text if text.is_empty() => Err("the reply is empty; expected a text".to_owned()),
        text => Ok(StageReply {
            text,
            ..StageReply::default()
        }),
    }
}

/// Returns a name in lower case, without spaces and punctuation.
fn letters(name: &str) -> String {
    name.chars()
        .filter(|character| character.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect()
}

/// Returns whether a text is a word such as `none`, with which models fill in what they leave out.
pub(crate) fn is_none(text: &str) -> bool {
    text.len() <= 80 && matches!(letters(text).as_str(), "" | "none" | "na" | "null")
}

/// Reads JSON, except for a number that would be written differently: `1.10` may be a version or a
/// price. Other texts are returned as they are.
pub(crate) fn json_or_text(text: &str) -> Value {
    let inside = text.trim().trim_matches('`');
    match serde_json::from_str(inside) {
        Ok(Value::Number(number)) if number.to_string() != inside => text.into(),
        Ok(value) => value,
        Err(_) => text.into(),
    }
}

pub(super) fn trimmed(value: &Value) -> String {
    match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Null => String::new(),
        value => value.to_string(),
    }
}
