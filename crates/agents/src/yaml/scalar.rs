//! Reads the values of plain scalars according to the core schema of YAML 1.2.

use serde_json::{Number, Value as Json};

/// `yes` and `no` are texts, as in YAML 1.2. So are `.inf` and `.nan`, because no setting accepts
/// them.
pub(super) fn resolve(plain: &str) -> Json {
    match plain {
        "" | "~" | "null" | "Null" | "NULL" => return Json::Null,
        "true" | "True" | "TRUE" => return Json::Bool(true),
        "false" | "False" | "FALSE" => return Json::Bool(false),
        _ => {}
    }

    let number = radix(plain).or_else(|| decimal(plain));
    number.map_or_else(|| plain.into(), Json::Number)
}

/// Reads `0x1F` and `0o17`.
fn radix(plain: &str) -> Option<Number> {
    let (digits, radix) = match plain.split_at_checked(2)? {
        ("0x", digits) => (digits, 16),
        ("0o", digits) => (digits, 8),
        _ => return None,
    };

    let digits = Some(digits).filter(|digits| !digits.starts_with('+'))?;
    u64::from_str_radix(digits, radix).ok().map(Number::from)
}

fn decimal(plain: &str) -> Option<Number> {
    // Only the numbers of YAML, because Rust also parses `inf` and `nan`.
    let digits = plain.trim_start_matches(['+', '-', '.']);
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | 'e' | 'E' | '+' | '-');
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || !plain.chars().all(of_number) {
        return None;
    }

    let signed = plain.parse::<i64>().ok().map(Number::from);
    let whole = signed.or_else(|| plain.parse::<u64>().ok().map(Number::from));
    whole.or_else(|| plain.parse().ok().and_then(Number::from_f64))
}
