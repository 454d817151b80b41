//! Reading the arguments of a call, with errors that name the argument.

use std::fmt;
use std::ops::RangeInclusive;

use cogwork_strategies::Mistyped;
use cogwork_text::NameList;
use rmcp::model::JsonObject;
use serde_json::{Value, json};

use crate::store::SessionId;
use crate::tool::ToolFailure;

/// The arguments of a call, or an object in them.
///
/// Each method removes an argument, and [`finish`](Self::finish) refuses those that are left. The
/// value null is the same as no argument. Names are found in camel case and in snake case. Since
/// some hosts send every argument as a text, the text of a number, of a boolean, of a list or of an
/// object is accepted as well.
#[derive(Debug)]
pub(crate) struct Arguments {
    values: JsonObject,
    /// The path of the object with a dot at the end, or an empty text.
    place: String,
    /// The names that were read.
    known: Vec<&'static str>,
}

/// An argument that is missing, unknown, or of the wrong type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ArgumentError(Mistyped);

impl Arguments {
    pub(crate) fn new(values: JsonObject) -> Self {
        Self::at(String::new(), values)
    }

    fn at(place: String, values: JsonObject) -> Self {
        Self {
            values,
            place,
            known: Vec::new(),
        }
    }

    /// Accepts another name of an argument. It is ignored if the argument is there as well.
    pub(crate) fn alias(&mut self, alias: &str, name: &'static str) {
        let value = remove(&mut self.values, alias);
        let Some(value) = value.filter(|value| !value.is_null()) else {
            return;
        };
        if !self.has(name) {
            self.values.insert(name.to_owned(), value);
        }
    }

    /// Returns whether there is such an argument.
    pub(crate) fn has(&self, name: &str) -> bool {
        let value = self.values.get(name);
        let value = value.or_else(|| self.values.get(&in_snake_case(name)));
        value.is_some_and(|value| !value.is_null())
    }

    /// Returns any JSON.
    pub(crate) fn value(&mut self, name: &'static str) -> Option<Value> {
        if !self.known.contains(&name) {
            self.known.push(name);
        }
        remove(&mut self.values, name).filter(|value| !value.is_null())
    }

    /// Returns a text of at most this many bytes.
    pub(crate) fn text(
        &mut self,
        name: &'static str,
        max_bytes: usize,
    ) -> Result<Option<String>, ArgumentError> {
        let value = self.value(name);
        value
            .map(|value| self.read_text(name, value, max_bytes))
            .transpose()
    }

    /// Returns a text of at most this many bytes, which must be there.
    pub(crate) fn required_text(
        &mut self,
        name: &'static str,
        max_bytes: usize,
    ) -> Result<String, ArgumentError> {
        let text = self.text(name, max_bytes)?;
        text.ok_or_else(|| self.missing(name, "a text"))
    }

    /// Returns the id of a session.
    pub(crate) fn session_id(
        &mut self,
        name: &'static str,
    ) -> Result<Option<SessionId>, ArgumentError> {
        self.named(name, SessionId::EXPECTED, SessionId::named)
    }

    /// Returns what a name refers to.
    pub(crate) fn named<T>(
        &mut self,
        name: &'static str,
        expected: impl fmt::Display,
        find: impl FnOnce(&str) -> Option<T>,
    ) -> Result<Option<T>, ArgumentError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };

        let found = value.as_str().and_then(find);
        found
            .map(Some)
            .ok_or_else(|| self.fault(name, expected, &value))
    }

    /// Returns a list of texts of at most this many bytes each. A single text is a list of one.
    pub(crate) fn texts(
        &mut self,
        name: &'static str,
        max_bytes: usize,
    ) -> Result<Option<Vec<String>>, ArgumentError> {
        let list = match self.value(name).map(parsed_if_json) {
            None => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(text @ Value::String(_)) => vec![text],
            Some(other) => return Err(self.fault(name, "a list of texts", &other)),
        };

        let texts = list.into_iter().enumerate().map(|(index, value)| {
            let place = format!("{name}[{index}]");
            self.read_text(&place, value, max_bytes)
        });
        texts.collect::<Result<_, _>>().map(Some)
    }

    /// Returns a boolean.
    pub(crate) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, ArgumentError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };

        let flag = match &value {
            Value::Bool(flag) => Some(*flag),
            Value::String(text) if text.eq_ignore_ascii_case("true") => Some(true),
            Value::String(text) if text.eq_ignore_ascii_case("false") => Some(false),
            _ => None,
        };
        flag.map(Some)
            .ok_or_else(|| self.fault(name, "true or false", &value))
    }

    /// Returns an integer within a range.
    pub(crate) fn integer(
        &mut self,
        name: &'static str,
        range: RangeInclusive<u32>,
    ) -> Result<Option<u32>, ArgumentError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };

        let number = number_in(&value).filter(|number| number.fract() == 0.0);
        let within = f64::from(*range.start())..=f64::from(*range.end());
        let number = number.filter(|number| within.contains(number));

        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "it is an integer within the range of a `u32`"
        )]
        let integer = number.map(|number| number as u32);
        integer.map(Some).ok_or_else(|| {
            let expected = match (range.start(), range.end()) {
                (least, &u32::MAX) => format!("an integer of at least {least}"),
                (least, most) => format!("an integer from {least} to {most}"),
            };
            self.fault(name, expected, &value)
        })
    }

    /// Returns a number within a range.
    pub(crate) fn number(
        &mut self,
        name: &'static str,
        range: RangeInclusive<f64>,
    ) -> Result<Option<f64>, ArgumentError> {
        let Some(value) = self.value(name) else {
            return Ok(None);
        };

        let number = number_in(&value).filter(|number| range.contains(number));
        number.map(Some).ok_or_else(|| {
            let expected = format_args!("a number from {} to {}", range.start(), range.end());
            self.fault(name, expected, &value)
        })
    }

    /// Returns what one of these names means.
    pub(crate) fn choice<T: Clone>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<Option<T>, ArgumentError> {
        self.named(name, one_of(choices), |given| {
            let chosen = choices.iter().find(|(name, _)| *name == given);
            chosen.map(|(_, choice)| choice.clone())
        })
    }

    /// Returns what one of these names means. The argument must be there.
    pub(crate) fn required_choice<T: Clone>(
        &mut self,
        name: &'static str,
        choices: &[(&str, T)],
    ) -> Result<T, ArgumentError> {
        let choice = self.choice(name, choices)?;
        choice.ok_or_else(|| self.missing(name, one_of(choices)))
    }

    /// Returns an object with any names, whose JSON has at most this many bytes.
    pub(crate) fn object(
        &mut self,
        name: &'static str,
        max_bytes: usize,
    ) -> Result<Option<JsonObject>, ArgumentError> {
        let object = match self.value(name).map(parsed_if_json) {
            None => return Ok(None),
            Some(Value::Object(object)) => object,
            Some(other) => return Err(self.fault(name, "an object", &other)),
        };

        let bytes = serde_json::to_string(&object).map_or(0, |text| text.len());
        self.check_bytes(name, bytes, max_bytes)?;
        Ok(Some(object))
    }

    /// Returns an object, whose arguments are read in the same way. It is empty if it isn't there.
    pub(crate) fn nested(&mut self, name: &'static str) -> Result<Self, ArgumentError> {
        let values = match self.value(name).map(parsed_if_json) {
            None => JsonObject::new(),
            Some(Value::Object(object)) => object,
            Some(other) => return Err(self.fault(name, "an object", &other)),
        };
        Ok(Self::at(format!("{}{name}.", self.place), values))
    }

    /// Returns a list of objects, whose arguments are read in the same way.
    pub(crate) fn objects(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Vec<Self>>, ArgumentError> {
        let list = match self.value(name).map(parsed_if_json) {
            None => return Ok(None),
            Some(Value::Array(list)) => list,
            Some(other) => return Err(self.fault(name, "a list of objects", &other)),
        };

        let objects = list.into_iter().enumerate().map(|(index, value)| {
            let place = format!("{name}[{index}]");
            match parsed_if_json(value) {
                Value::Object(object) => Ok(Self::at(format!("{}{place}.", self.place), object)),
                other => Err(self.fault(&place, "an object", &other)),
            }
        });
        objects.collect::<Result<_, _>>().map(Some)
    }

    /// Refuses arguments that were not read.
    pub(crate) fn finish(self) -> Result<(), ArgumentError> {
        match self.values.iter().find(|(_, value)| !value.is_null()) {
            None => Ok(()),
            Some((name, _)) => {
                let expected = NameList::or(self.known.iter());
                Err(self.error(name, expected, "not an argument of this call"))
            }
        }
    }

    /// Refuses an argument of more than this many bytes.
    pub(crate) fn check_bytes(
        &self,
        name: &str,
        bytes: usize,
        max_bytes: usize,
    ) -> Result<(), ArgumentError> {
        if bytes <= max_bytes {
            return Ok(());
        }
        let expected = format_args!("at most {max_bytes} bytes");
        Err(self.error(name, expected, format_args!("{bytes} bytes long")))
    }

    /// Returns the error for an argument that isn't there.
    pub(crate) fn missing(&self, name: &str, expected: impl fmt::Display) -> ArgumentError {
        self.error(name, expected, "missing")
    }

    /// Returns the error for an argument with this value.
    pub(crate) fn fault(
        &self,
        name: &str,
        expected: impl fmt::Display,
        found: &Value,
    ) -> ArgumentError {
        let place = format!("{}{name}", self.place);
        ArgumentError(Mistyped::of(&place, expected, found))
    }

    fn error(
        &self,
        name: &str,
        expected: impl fmt::Display,
        found: impl fmt::Display,
    ) -> ArgumentError {
        let place = format!("{}{name}", self.place);
        ArgumentError(Mistyped::new(&place, expected, found))
    }

    fn read_text(
        &self,
        name: &str,
        value: Value,
        max_bytes: usize,
    ) -> Result<String, ArgumentError> {
        let Value::String(text) = value else {
            return Err(self.fault(name, "a text", &value));
        };

        self.check_bytes(name, text.len(), max_bytes)?;
        Ok(text)
    }
}

/// Removes a value by its name, or by its name in snake case.
fn remove(values: &mut JsonObject, name: &str) -> Option<Value> {
    let value = values.remove(name);
    value.or_else(|| values.remove(&in_snake_case(name)))
}

/// Returns `session_id` for `sessionId`.
pub(crate) fn in_snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len());
    for character in name.chars() {
        if character.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(character.to_ascii_lowercase());
    }
    snake
}

fn number_in(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

/// Returns the list or the object that a text contains.
fn parsed_if_json(value: Value) -> Value {
    let Value::String(text) = &value else {
        return value;
    };
    if !text.trim_start().starts_with(['[', '{']) {
        return value;
    }
    serde_json::from_str(text).unwrap_or(value)
}

fn one_of<T>(choices: &[(&str, T)]) -> String {
    let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
    NameList::or(names).to_string()
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl From<ArgumentError> for ToolFailure {
    fn from(error: ArgumentError) -> Self {
        let message = error.to_string();
        let ArgumentError(fault) = error;
        let data = json!({"error": {
            "kind": "argument",
            "message": message,
            "argument": fault.parameter,
            "expected": fault.expected,
            "found": fault.found,
        }});
        Self::Described { message, data }
    }
}
