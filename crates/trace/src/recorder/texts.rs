//! The texts of an event, as the settings want them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{Content, RecorderSettings};

/// The fields whose texts are names of a fixed set, or chosen by the program or the server. They
/// are recorded in every record.
const NAMES: [&str; 28] = [
    "action",
    "change",
    "event",
    "finish",
    "format",
    "id",
    "kind",
    "media_type",
    "model",
    "name",
    "next",
    "node",
    "phase",
    "reason",
    "role",
    "source",
    "stage",
    "start",
    "status",
    "step",
    "strategy",
    "to",
    "tool_call_id",
    "tool_name",
    "tools",
    "type",
    "verdict",
    "waits_at",
];

/// The field with the sizes of texts that were cut.
const CUT: &str = "cut";

/// Returns the JSON of an event with its texts cut, redacted or left out. `None` if there is nothing
/// to change.
pub(super) fn prepared(
    json: &[u8],
    settings: &RecorderSettings,
) -> serde_json::Result<Option<String>> {
    let is_short = json.len() <= settings.max_text;
    if is_short && settings.content() == Content::Full {
        return Ok(None);
    }

    let value: Value = serde_json::from_slice(json)?;
    let value = Texts { settings }.of_value(value);
    let json = serde_json::to_string(&value)?;

    if json.len() > settings.max_event {
        return serde_json::to_string(&stub(&value, json.len())).map(Some);
    }

    Ok(Some(json))
}

/// Returns what is recorded of an event that is too large.
fn stub(event: &Value, bytes: usize) -> Value {
    let mut kept = named(event);

    if let Some(report) = event.get("report") {
        let mut report = named(report);
        report.insert(CUT.to_owned(), serde_json::json!({ "": bytes }));
        kept.insert("report".to_owned(), Value::Object(report));
    }

    Value::Object(kept)
}

/// Returns the fields of an object that identify it.
fn named(value: &Value) -> Map<String, Value> {
    const KEPT: [&str; 6] = ["type", "source", "id", "role", "call", "thought"];

    let fields = value.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, _)| KEPT.contains(&name.as_str()));
    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

struct Texts<'a> {
    settings: &'a RecorderSettings,
}

/// The texts of an object that were cut, with their sizes.
type Cuts = Map<String, Value>;

impl Texts<'_> {
    fn of_value(&self, value: Value) -> Value {
        let mut cut = Cuts::new();
        self.walk(value, "", &mut cut)
    }

    /// Prepares the texts in a value. Those that are cut are listed in `cut`, by the path from the
    /// object around them.
    fn walk(&self, value: Value, path: &str, cut: &mut Cuts) -> Value {
        match value {
            Value::String(text) => Value::String(self.of_text(text, path, cut)),
            Value::Array(items) => {
                let items = items.into_iter().enumerate();
                let prepared =
                    items.map(|(index, item)| self.walk(item, &format!("{path}.{index}"), cut));
                Value::Array(prepared.collect())
            }
            Value::Object(fields) => Value::Object(self.of_object(fields)),
            other => other,
        }
    }

    fn of_object(&self, fields: Map<String, Value>) -> Map<String, Value> {
        let mut cut = Cuts::new();
        let mut prepared = Map::new();
        let is_named_by_content = is_named_by_content(&fields);

        for (name, value) in fields {
            let is_name = NAMES.contains(&name.as_str()) && !has_objects(&value);
            let value = if is_name && !(name == "name" && is_named_by_content) {
                self.of_name(value)
            } else {
                self.walk(value, &name, &mut cut)
            };
            prepared.insert(self.without_secrets(&name).into_owned(), value);
        }

        if !cut.is_empty() {
            prepared.insert(CUT.to_owned(), Value::Object(cut));
        }

        prepared
    }

    /// Hides secrets in a name, or in each of several. A model may have written them.
    fn of_name(&self, value: Value) -> Value {
        match value {
            Value::String(name) => Value::String(self.without_secrets(&name).into_owned()),
            Value::Array(names) => {
                let names = names.into_iter().map(|name| self.of_name(name));
                Value::Array(names.collect())
            }
            other => other,
        }
    }

    fn of_text(&self, text: String, path: &str, cut: &mut Cuts) -> String {
        if self.settings.content == Content::None {
            return String::new();
        }

        let redacted = self.redacted(&text);
        let max = self.settings.max_text;
        if redacted.len() <= max {
            return redacted.into_owned();
        }

        cut.insert(path.to_owned(), redacted.len().into());
        let end = (0..=max).rev().find(|at| redacted.is_char_boundary(*at));
        redacted
            .get(..end.unwrap_or_default())
            .unwrap_or_default()
            .to_owned()
    }

    fn redacted<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut redacted = self.without_secrets(text);
        for rule in &self.settings.rules {
            redacted = Cow::Owned(rule(&redacted).into_owned());
        }

        redacted
    }

    fn without_secrets<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hidden = Cow::Borrowed(text);
        for hide in &self.settings.secrets {
            hidden = Cow::Owned(hide(&hidden));
        }

        hidden
    }
}

/// Returns whether the name of an object is content: that of a branch, which a model may choose, or
/// of a file.
fn is_named_by_content(fields: &Map<String, Value>) -> bool {
    let is_branch = fields.get("type").and_then(Value::as_str) == Some("branch");
    is_branch || fields.contains_key("media_type")
}

fn has_objects(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(has_objects),
        _ => false,
    }
}
