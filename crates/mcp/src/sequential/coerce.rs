//! Numbers, booleans and texts as the original reads them: numbers like JavaScript's `Number`.

use std::fmt;

use serde_json::Value;

/// The greatest number that JavaScript represents with all its neighbours.
pub(super) const MAX_INTEGER: u64 = (1 << 53) - 1;

/// The maximum number of characters of a value that an error repeats.
const REPEATED: usize = 1_000;

/// What is wrong with an argument. There may be two problems with one.
pub(super) type Problems = Vec<String>;

/// Reads a number, which may be written in a text, and is at least 1.
pub(super) fn integer(value: Option<&Value>) -> Result<u64, Problems> {
    let number = value.map_or(f64::NAN, number);

    if number.is_nan() {
        return Err(received("number", "NaN"));
    }
    if number.is_infinite() {
        let text = if number > 0.0 {
            "Infinity"
        } else {
            "-Infinity"
        };
        return Err(received("number", text));
    }
    if number.fract() != 0.0 {
        return Err(received("int", "number"));
    }
    in_range(number)
}

/// Reads a whole number.
fn in_range(number: f64) -> Result<u64, Problems> {
    // Exact, as the constant says.
    #[allow(clippy::cast_precision_loss)]
    let max = MAX_INTEGER as f64;
    let mut problems = Problems::new();

    if number > max {
        problems.push(format!("Too big: expected int to be <={MAX_INTEGER}"));
    }
    if number < -max {
        problems.push(format!("Too small: expected int to be >=-{MAX_INTEGER}"));
    }
    if number < 1.0 {
        problems.push("Too small: expected number to be >=1".to_owned());
    }
    if !problems.is_empty() {
        return Err(problems);
    }

    // Between 1 and the greatest integer, and without a fraction.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Ok(number as u64)
}

/// Reads a boolean, which may be written in a text.
pub(super) fn boolean(value: Option<&Value>) -> Result<bool, Problems> {
    let text = match value {
        Some(Value::Bool(value)) => return Ok(*value),
        Some(Value::String(text)) => text,
        _ => return Err(vec!["Invalid input".to_owned()]),
    };

    if text.eq_ignore_ascii_case("true") {
        return Ok(true);
    }
    if text.eq_ignore_ascii_case("false") {
        return Ok(false);
    }
    let text = Shortened(text);
    let problem = format!(r#"Expected boolean or "true"/"false" string, received "{text}""#);
    Err(vec![problem])
}

/// Reads a text of at most this many bytes.
pub(super) fn text(value: Option<Value>, max_bytes: usize) -> Result<String, Problems> {
    let text = match value {
        Some(Value::String(text)) => text,
        other => return Err(received("string", type_name(other.as_ref()))),
    };

    if text.len() > max_bytes {
        let problem = format!("Too big: expected string to have <={max_bytes} bytes");
        return Err(vec![problem]);
    }
    Ok(text)
}

fn received(expected: &str, received: &str) -> Problems {
    let problem = format!("Invalid input: expected {expected}, received {received}");
    vec![problem]
}

fn type_name(value: Option<&Value>) -> &'static str {
    match value {
        None => "undefined",
        Some(Value::Null) => "null",
        Some(Value::Bool(_)) => "boolean",
        Some(Value::Number(_)) => "number",
        Some(Value::String(_)) => "string",
        Some(Value::Array(_)) => "array",
        Some(Value::Object(_)) => "object",
    }
}

fn number(value: &Value) -> f64 {
    match value {
        Value::Null => 0.0,
        Value::Bool(value) => f64::from(u8::from(*value)),
        Value::Number(number) => number.as_f64().unwrap_or(f64::NAN),
        Value::String(text) => number_in(text),
        Value::Array(values) => number_in_list(values),
        Value::Object(_) => f64::NAN,
    }
}

/// A list is first turned into a text, in which commas separate the values.
fn number_in_list(values: &[Value]) -> f64 {
    match values {
        [] => 0.0,
        [Value::Bool(_)] => f64::NAN, // The text `true` isn't a number.
        [value] => number(value),
        _ => f64::NAN,
    }
}

fn number_in(text: &str) -> f64 {
    let text = text.trim_matches(is_space);
    let digits = |radix| text.get(2..).map_or(f64::NAN, |text| in_radix(text, radix));

    match text.get(..2) {
        Some("0x" | "0X") => return digits(16),
        Some("0o" | "0O") => return digits(8),
        Some("0b" | "0B") => return digits(2),
        _ => {}
    }
    match text {
        "" => 0.0,
        "Infinity" | "+Infinity" => f64::INFINITY,
        "-Infinity" => f64::NEG_INFINITY,
        _ => decimal(text),
    }
}

/// Returns whether JavaScript counts a character as white space.
fn is_space(character: char) -> bool {
    match character {
        '\u{feff}' => true,
        '\u{85}' => false,
        _ => character.is_whitespace(),
    }
}

fn in_radix(text: &str, radix: u32) -> f64 {
    if text.is_empty() {
        return f64::NAN;
    }

    let mut digits = text.chars().map(|digit| digit.to_digit(radix));
    digits
        .try_fold(0.0, |number, digit| {
            Some(number * f64::from(radix) + f64::from(digit?))
        })
        .unwrap_or(f64::NAN)
}

fn decimal(text: &str) -> f64 {
    // Rust reads the same forms, but also `inf` and `nan`.
    let is_allowed = |byte: u8| byte.is_ascii_digit() || b".eE+-".contains(&byte);
    if !text.bytes().all(is_allowed) {
        return f64::NAN;
    }
    text.parse().unwrap_or(f64::NAN)
}

/// A text of which at most the first characters are written.
struct Shortened<'a>(&'a str);

impl fmt::Display for Shortened<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.char_indices().nth(REPEATED) {
            Some((end, _)) => write!(f, "{}…", self.0.get(..end).unwrap_or_default()),
            None => f.write_str(self.0),
        }
    }
}
