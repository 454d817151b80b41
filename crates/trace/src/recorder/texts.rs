//! The texts of an event, as the settings want them.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::{Content, RecorderSettings};

/// The fields whose texts are names of a fixed set, or chosen by the program or the server. They
/// are recorded in every record.
const NAMES: [&str; 24] = [
    "action",
    "change",
    "event",
    "finish",
    "format",
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
    "tools",
    "type",
    "waits_at",
];

/// The field with the sizes of texts that were cut.
const CUT: &str = "cut";

/// Returns the JSON of an event with its texts cut, redacted or left out.
pub(super) fn prepared(json: String, settings: &RecorderSettings) -> serde_json::Result<String> {
    let is_short = json.len() <= settings.max_text;
    if is_short && settings.content() == Content::Full {
        return Ok(json);
    }

    let value: Value = serde_json::from_str(&json)?;
    let value = Texts { settings }.of_value(value);
    let json = serde_json::to_string(&value)?;

    if json.len() > settings.max_event {
        return serde_json::to_string(&stub(&value, json.len()));
    }

    Ok(json)
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
type CutTexts = Map<String, Value>;

impl Texts<'_> {
    fn of_value(&self, value: Value) -> Value {
        let mut cut = CutTexts::new();
        self.walk(value, "", &mut cut)
    }

    /// Prepares the texts in a value. Those that are cut are listed in `cut`, by the path from the
    /// object around them.
    fn walk(&self, value: Value, path: &str, cut: &mut CutTexts) -> Value {
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
        let mut cut = CutTexts::new();
        let mut prepared = Map::new();

        for (name, value) in fields {
            let is_name = NAMES.contains(&name.as_str()) && !has_objects(&value);
            let value = if is_name {
                value
            } else {
                self.walk(value, &name, &mut cut)
            };
            prepared.insert(self.of_key(name), value);
        }

        if !cut.is_empty() {
            prepared.insert(CUT.to_owned(), Value::Object(cut));
        }

        prepared
    }

    /// The keys of an object may have been written by a model.
    fn of_key(&self, key: String) -> String {
        if self.settings.rules.is_empty() || self.settings.content == Content::None {
            return key;
        }
        self.redacted(&key).into_owned()
    }

    fn of_text(&self, text: String, path: &str, cut: &mut CutTexts) -> String {
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
        let mut redacted = Cow::Borrowed(text);
        for rule in &self.settings.rules {
            redacted = Cow::Owned(rule(&redacted).into_owned());
        }

        redacted
    }
}

fn has_objects(value: &Value) -> bool {
    match value {
        Value::Object(_) => true,
        Value::Array(items) => items.iter().any(has_objects),
        _ => false,
    }
}
