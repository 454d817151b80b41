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
    let radixes = [("0x", 16), ("0o", 8)];
    let digits = radixes.iter().find_map(|(prefix, radix)| {
        let digits = plain
            .strip_prefix(prefix)
            .filter(|digits| !digits.starts_with('+'))?;
        u64::from_str_radix(digits, *radix).ok()
    });
    if let Some(whole) = digits {
        return Some(whole.into());
    }

    // Only the numbers of YAML, because Rust also parses `inf` and `nan`.
    let begins = plain
        .trim_start_matches(['+', '-', '.'])
        .starts_with(|c: char| c.is_ascii_digit());
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !begins || !plain.chars().all(of_number) {
        return None;
    }

    let signed = plain.parse::<i64>().ok().map(Number::from);
    let whole = signed.or_else(|| plain.parse::<u64>().ok().map(Number::from));
    whole.or_else(|| plain.parse().ok().and_then(Number::from_f64))
}
