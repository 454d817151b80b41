//! Exact numbers as text: whole, decimal where the decimal ends, else a fraction.

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{One, Pow, Signed, ToPrimitive, Zero};

/// The most digits a number may have, in the problem and in a result: enough for `2^3000`,
/// few enough to print.
pub(super) const MAX_DIGITS: usize = 999;

/// The digits shown after the point of an approximation.
const APPROXIMATE_PLACES: u32 = 6;

/// Reads digits with at most one point, as the tokens give them. `None`: not of that form.
pub(super) fn parse_decimal(digits: &str) -> Option<BigRational> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let all = format!("{whole}{fraction}");
    if all.is_empty() || all.len() > MAX_DIGITS || !all.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }

    let numerator: BigInt = all.parse().ok()?;
    Some(BigRational::new(numerator, power_of_ten(fraction.len())))
}

/// The value as people write it: `63`, `65.5`, or `10/3 ≈ 3.333333`.
pub(super) fn value_text(value: &BigRational) -> String {
    decimal(value).unwrap_or_else(|| format!("{value} ≈ {}", approximation(value)))
}

/// The value in every exact form it has: `131/2 = 65.5`, else as [`value_text`].
pub(super) fn full_text(value: &BigRational) -> String {
    match decimal(value) {
        Some(decimal) if !value.is_integer() => format!("{value} = {decimal}"),
        _ => value_text(value),
    }
}

/// The exact decimal, where it ends within [`MAX_DIGITS`].
pub(super) fn decimal(value: &BigRational) -> Option<String> {
    if value.is_integer() {
        return Some(value.numer().to_string());
    }

    let (twos, rest) = divide_out(value.denom().clone(), 2);
    let (fives, rest) = divide_out(rest, 5);
    let places = twos.max(fives);

    if !rest.is_one() || places >= MAX_DIGITS {
        return None;
    }

    let scaled = value.numer() * power_of_ten(places) / value.denom();
    let text = with_point(&scaled, places);
    (text.len() <= MAX_DIGITS + 2).then_some(text)
}

/// How often `factor` divides `number` (not zero), and what is left.
fn divide_out(mut number: BigInt, factor: u32) -> (usize, BigInt) {
    let mut times = 0;
    while (&number % factor).is_zero() {
        number /= factor;
        times += 1;
    }

    (times, number)
}

/// `scaled` / 10^`places`, written with a point.
fn with_point(scaled: &BigInt, places: usize) -> String {
    let sign = if scaled.sign() == Sign::Minus {
        "-"
    } else {
        ""
    };

    let digits = format!(
        "{:0>width$}",
        scaled.magnitude().to_string(),
        width = places + 1
    );

    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
    if fraction.is_empty() {
        format!("{sign}{whole}")
    } else {
        format!("{sign}{whole}.{fraction}")
    }
}

/// A rounded decimal; small values in powers of ten, so that they do not read as zero.
fn approximation(value: &BigRational) -> String {
    let places = APPROXIMATE_PLACES as usize;
    let thousandth = BigRational::new(BigInt::one(), BigInt::from(1000));
    if value.is_zero() || value.abs() >= thousandth {
        return with_point(&rounded(value, places), places);
    }

    // The digits of the fraction's two parts give the exponent to within one.
    let digits = |part: &BigInt| part.magnitude().to_string().len();
    let mut exponent = digits(value.denom()).saturating_sub(digits(value.numer()));
    if (value.abs() * BigRational::from(power_of_ten(exponent))) < BigRational::one() {
        exponent += 1;
    }

    let mantissa = value * BigRational::from(power_of_ten(exponent));
    format!(
        "{} × 10^-{exponent}",
        with_point(&rounded(&mantissa, places), places)
    )
}

/// A floating-point number to ten digits, as a calculator shows it.
pub(super) fn rounded_text(value: f64) -> String {
    let scientific = format!("{value:.9e}");
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    match (exponent.parse::<i32>(), scientific.parse::<f64>()) {
        (Ok(-4..=14), Ok(rounded)) => rounded.to_string(),
        _ => format!("{mantissa} × 10^{exponent}"),
    }
}

fn rounded(value: &BigRational, places: usize) -> BigInt {
    (value * BigRational::from(power_of_ten(places)))
        .round()
        .to_integer()
}

fn power_of_ten(exponent: usize) -> BigInt {
    Pow::pow(BigInt::from(10), exponent)
}

/// The value of a result's text: the part after its last `=` and before any `≈`.
/// Returns `None` if that isn't a number.
pub(super) fn value_at_end(text: &str) -> Option<BigRational> {
    let exact = text.rsplit('=').next()?.split('≈').next()?.trim();
    let (sign, unsigned) = match exact.strip_prefix('-') {
        Some(unsigned) => (-BigRational::one(), unsigned),
        None => (BigRational::one(), exact),
    };
    match unsigned.split_once('/') {
        Some((numerator, denominator)) => {
            let denominator = parse_decimal(denominator).filter(|value| !value.is_zero())?;
            Some(sign * parse_decimal(numerator)? / denominator)
        }
        None => Some(sign * parse_decimal(unsigned)?),
    }
}

/// The whole number in `value`, where it is one and small enough.
pub(super) fn whole(value: &BigRational) -> Option<i64> {
    value
        .is_integer()
        .then(|| value.to_integer().to_i64())
        .flatten()
}
