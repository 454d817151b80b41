//! The texts of an event, as the settings want them.

use std::borrow::Cow;

use serde_json::{Map, Number, Value};

use super::names::{Field, Names, is_change_of_names};
use crate::{Content, RecorderSettings};

/// The field with the sizes of texts that were cut.
const CUT: &str = "cut";

/// Returns the JSON of an event with its texts cut, redacted or left out.
pub(super) fn prepared(json: String, settings: &RecorderSettings) -> serde_json::Result<String> {
    let is_short = json.len() <= settings.max_text.min(settings.max_event);
    if is_short && settings.content() == Content::Full && settings.secrets.is_empty() {
        return Ok(json);
    }

    let value: Value = serde_json::from_str(&json)?;
    let names = Names::of(&value);
    let value = Texts { settings, names }.of_value(value);
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

/// Returns a name as it is recorded, such as that of a step: without secrets.
pub(super) fn name<'t>(name: &'t str, settings: &RecorderSettings) -> Cow<'t, str> {
    let mut hidden = Cow::Borrowed(name);
    for hide in &settings.secrets {
        hidden = Cow::Owned(hide(&hidden));
    }

    hidden
}

/// Returns a value whose texts are all names, without secrets.
pub(super) fn names(value: Value, settings: &RecorderSettings) -> Value {
    match value {
        Value::String(text) => Value::String(name(&text, settings).into_owned()),
        Value::Array(items) => {
            let items = items.into_iter().map(|item| names(item, settings));
            Value::Array(items.collect())
        }
        Value::Object(fields) => {
            let fields = fields.into_iter().map(|(key, value)| {
                let key = name(&key, settings).into_owned();
                (key, names(value, settings))
            });
            Value::Object(fields.collect())
        }
        other => other,
    }
}

/// Returns a text as it is recorded, before it is cut.
fn redacted<'t>(text: &'t str, settings: &RecorderSettings) -> Cow<'t, str> {
    let mut redacted = name(text, settings);
    for rule in &settings.rules {
        redacted = Cow::Owned(rule(&redacted).into_owned());
    }

    redacted
}

/// Returns a text as it is recorded: redacted, and cut or left out.
pub(super) fn content(text: &str, settings: &RecorderSettings) -> String {
    if settings.content == Content::None {
        return String::new();
    }
    let text = redacted(text, settings);
    cut(&text, settings.max_text).to_owned()
}

/// Returns the beginning of a text.
fn cut(text: &str, max: usize) -> &str {
    let end = (0..=max).rev().find(|at| text.is_char_boundary(*at));
    text.get(..end.unwrap_or_default()).unwrap_or(text)
}

/// Returns the fields of an object that identify it.
fn named(value: &Value) -> Map<String, Value> {
    const KEPT: [&str; 6] = ["type", "source", "id", "role", "call", "thought"];
    const LONGEST: usize = 256;

    let fields = value.as_object().into_iter().flatten();
    let kept = fields.filter(|(name, value)| {
        let is_short = value.as_str().is_none_or(|text| text.len() <= LONGEST);
        is_short && !has_parts(value) && KEPT.contains(&name.as_str())
    });

    kept.map(|(name, value)| (name.clone(), value.clone()))
        .collect()
}

fn has_parts(value: &Value) -> bool {
    value.is_array() || value.is_object()
}

struct Texts<'a> {
    settings: &'a RecorderSettings,
    names: Names,
}

/// The texts of an object that were cut, with their sizes.
type Cuts = Map<String, Value>;

/// Where a text is: in which field, and from the object around it.
struct Place<'a> {
    field: &'a Field,
    path: &'a str,
    is_name: bool,
}

impl Texts<'_> {
    fn of_value(&self, value: Value) -> Value {
        let mut cut = Cuts::new();
        let place = Place {
            field: &Field::default(),
            path: "",
            is_name: false,
        };

        self.walk(value, &place, &mut cut)
    }

    /// Prepares the texts in a value. Those that are cut are listed in `cut`, by the path from the
    /// object around them.
    fn walk(&self, value: Value, place: &Place<'_>, cut: &mut Cuts) -> Value {
        match value {
            Value::String(text) => Value::String(self.of_text(text, place, cut)),
            Value::Array(items) => {
                let items = items.into_iter().enumerate().map(|(index, item)| {
                    let path = format!("{}.{index}", place.path);
                    let place = Place {
                        path: &path,
                        ..*place
                    };
                    self.walk(item, &place, cut)
                });
                Value::Array(items.collect())
            }
            Value::Object(fields) => Value::Object(self.of_object(fields, place.field)),
            Value::Number(number) if self.is_free(place.field) => self.of_number(number),
            other => other,
        }
    }

    fn of_object(&self, fields: Map<String, Value>, of: &Field) -> Map<String, Value> {
        let mut cut = Cuts::new();
        let mut prepared = Map::new();
        let is_of_names = is_change_of_names(&fields);

        for (name, value) in fields {
            if self.is_left_out(of, &name) {
                continue;
            }

            let field = of.inner(&name);
            let place = Place {
                field: &field,
                path: &name,
                is_name: self.names.contain(&field, is_of_names),
            };
            let value = self.walk(value, &place, &mut cut);
            prepared.insert(self.of_key(&name, of), value);
        }

        if !cut.is_empty() {
            prepared.insert(CUT.to_owned(), Value::Object(cut));
        }

        prepared
    }

    /// Returns whether a field is the report of a program, or inside it. Anything may be anywhere there,
    /// also in the names of fields.
    fn is_free(&self, field: &Field) -> bool {
        !self.names.has_fixed_fields() && field.is_in_report()
    }

    fn is_left_out(&self, of: &Field, name: &str) -> bool {
        self.is_free(of) && name != "type" && self.settings.content == Content::None
    }

    fn of_key(&self, name: &str, of: &Field) -> String {
        if self.is_free(of) && name != "type" {
            redacted(name, self.settings).into_owned()
        } else {
            self::name(name, self.settings).into_owned()
        }
    }

    /// Hides a number that is a secret.
    fn of_number(&self, number: Number) -> Value {
        let text = number.to_string();
        let shown = redacted(&text, self.settings);

        if *shown == *text {
            Value::Number(number)
        } else {
            Value::String(shown.into_owned())
        }
    }

    fn of_text(&self, text: String, place: &Place<'_>, cut: &mut Cuts) -> String {
        if self.settings.content == Content::None && !place.is_name {
            return String::new();
        }

        let shown = if place.is_name {
            name(&text, self.settings)
        } else {
            redacted(&text, self.settings)
        };
        let max = self.settings.max_text;
        if shown.len() <= max {
            return shown.into_owned();
        }

        cut.insert(place.path.to_owned(), shown.len().into());
        self::cut(&shown, max).to_owned()
    }
}
