//! Numbers as people write them.

use serde_json::Number;

/// Returns the number in a text as JSON writes it, or `None` if there is none or if it may be one
/// of several.
///
/// Commas between thousands are accepted where they can't be decimal points: in `1,234,567` and
/// `1,234.50`, and in `1,234` if an integer is expected. A sign of a currency is left out. Unlike a
/// per cent sign, it doesn't change the number.
pub(crate) fn number_in(text: &str, is_integer: bool) -> Option<String> {
    let first = text.find(|sign: char| sign.is_ascii_digit() || sign == '.')?;
    let (before, rest) = text.split_at_checked(first)?;
    let digits = rest.trim_end_matches(|sign: char| is_currency(sign) || sign.is_whitespace());
    let after = rest.strip_prefix(digits)?;

    // After a blank, `-` may be a bullet.
    let marks = format!("{before}{}", after.trim()).replacen(is_currency, "", 1);
    let sign = match marks.trim_start() {
        "" | "+" => "",
        "-" | "−" => "-",
        _ => return None,
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let whole = match whole {
        "" if fraction.is_empty() => return None,
        "" => "0".to_owned(),
        whole if whole.contains(',') => without_commas(whole, is_integer || !fraction.is_empty())?,
        whole => whole.to_owned(),
    };
    let point = if fraction.is_empty() { "" } else { "." };

    let number = format!("{sign}{whole}{point}{fraction}");
    // JSON has no leading zeros, and no digits of other scripts.
    serde_json::from_str::<Number>(&number).ok()?;
    Some(number)
}

fn is_currency(sign: char) -> bool {
    matches!(sign, '$' | '£' | '¥' | '\u{20a0}'..='\u{20cf}')
}

/// Joins groups of three digits. A single comma may be a decimal point.
fn without_commas(digits: &str, is_clear: bool) -> Option<String> {
    let mut groups = digits.split(',');
    let first = groups.next()?;
    let joined = digits.replace(',', "");

    let is_grouped = (1..=3).contains(&first.len())
        && !first.starts_with('0')
        && joined.bytes().all(|byte| byte.is_ascii_digit())
        && groups.clone().all(|group| group.len() == 3);
    (is_grouped && (is_clear || groups.count() > 1)).then_some(joined)
}
