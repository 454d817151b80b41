//! Reads the values of plain scalars according to the core schema of YAML 1.2.

use serde_json::Number;

use super::{Text, Value};

/// `yes` and `no` are texts, as in YAML 1.2. So are `.inf` and `.nan`, because no setting accepts
/// them.
pub(super) fn resolve(plain: &str) -> Value {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Value::Null,
        "true" | "True" | "TRUE" => return Value::Bool(true),
        "false" | "False" | "FALSE" => return Value::Bool(false),
        _ => {}
    }

    match number(plain) {
        Some(number) => Value::Number(number),
        None => Value::Text(Text {
            value: plain.to_owned(),
            variables: Vec::new(),
        }),
    }
}

fn number(plain: &str) -> Option<Number> {
    let radix = |digits: &str, radix| u64::from_str_radix(digits, radix).ok().map(Number::from);
    if let Some(digits) = plain
        .strip_prefix("0x")
        .filter(|digits| !digits.starts_with('+'))
    {
        return radix(digits, 16);
    }

    if let Some(digits) = plain
        .strip_prefix("0o")
        .filter(|digits| !digits.starts_with('+'))
    {
        return radix(digits, 8);
    }

    let digits = plain.strip_prefix(['+', '-']).unwrap_or(plain);
    let begins = digits
        .strip_prefix('.')
        .unwrap_or(digits)
        .starts_with(|c: char| c.is_ascii_digit());

    // Only accept the numbers of YAML, because Rust also parses `inf` and `nan`.
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !begins || !digits.chars().all(of_number) {
        return None;
    }

    if let Ok(whole) = plain.parse::<i64>() {
        return Some(whole.into());
    }

    if let Ok(whole) = plain.parse::<u64>() {
        return Some(whole.into());
    }

    plain.parse().ok().and_then(Number::from_f64)
}
