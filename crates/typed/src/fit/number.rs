//! Numbers as people write them.

use serde_json::Number;

/// Returns the number in a text as JSON writes it, or `None` if there is none or if it may be one
/// of several.
///
/// Separators of thousands are accepted where they can't be a decimal point: `1,234,567`,
/// `1.234,50`, `1 234`, `1_234`, and `1,234` if an integer is expected. A sign of a currency is left
/// out. Unlike a per cent sign, it doesn't change the number.
pub(crate) fn number_in(text: &str, is_integer: bool) -> Option<String> {
    let text = text.trim();
    if serde_json::from_str::<Number>(text).is_ok() {
        return Some(text.to_owned());
    }

    let amount = without_currency(text);
    let (sign, digits) = match amount.strip_prefix(['-', '−']) {
        Some(digits) => ("-", digits),
        None => ("", amount.strip_prefix('+').unwrap_or(amount)),
    };
    let digits = if amount == text {
        without_currency(digits)
    } else {
        digits
    };

    let written = plain(digits)
        .or_else(|| grouped(digits, ' ', '.'))
        .or_else(|| grouped(digits, '_', '.'))
        .or_else(|| with_separators(digits, is_integer))?;
    let number = format!("{sign}{written}");

    serde_json::from_str::<Number>(&number).ok()?;
    Some(number)
}

/// Leaves out a sign of a currency before or after a number.
fn without_currency(text: &str) -> &str {
    let before = text.strip_prefix(is_currency).map(str::trim_start);
    let after = text.strip_suffix(is_currency).map(str::trim_end);

    before.or(after).unwrap_or(text)
}

fn is_currency(character: char) -> bool {
    matches!(character, '$' | '£' | '¥' | '\u{20a0}'..='\u{20cf}')
}

/// Reads digits with at most one point, such as `+5` or `.5`.
fn plain(digits: &str) -> Option<String> {
    let digits = match digits.strip_prefix('.') {
        Some(fraction) => format!("0.{fraction}"),
        None => digits.strip_suffix('.').unwrap_or(digits).to_owned(),
    };
    serde_json::from_str::<Number>(&digits).ok()?;
    Some(digits)
}

fn with_separators(digits: &str, is_integer: bool) -> Option<String> {
    let commas = digits.matches(',').count();
    let points = digits.matches('.').count();

    let commas_group = match (commas, points) {
        (1, 0) => is_integer,
        // Repeated separators aren't decimal points.
        (2.., 0) => true,
        (1.., 1) => digits.find(',') < digits.find('.'),
        _ => false,
    };
    let points_group = match (commas, points) {
        (0, 2..) => true,
        (1, 1..) => digits.find('.') < digits.find(','),
        _ => false,
    };

    if commas_group {
        grouped(digits, ',', '.')
    } else if points_group {
        grouped(digits, '.', ',')
    } else {
        None
    }
}

/// Reads groups of three digits, with a fraction after `point`.
fn grouped(digits: &str, separator: char, point: char) -> Option<String> {
    let (whole, fraction) = match digits.split_once(point) {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (digits, None),
    };

    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let mut groups = whole.split(separator);
    let first = groups.next()?;
    let rest: Vec<&str> = groups.collect();

    let is_grouped = is_digits(first)
        && first.len() <= 3
        && !first.starts_with('0')
        && !rest.is_empty()
        && rest
            .iter()
            .all(|group| group.len() == 3 && is_digits(group));
    if !is_grouped || !fraction.is_none_or(is_digits) {
        return None;
    }

    let whole = format!("{first}{}", rest.concat());
    Some(match fraction {
        Some(fraction) => format!("{whole}.{fraction}"),
        None => whole,
    })
}
