//! Exact values of expressions, under bounds, and a check of a value by another way.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};
use thiserror::Error;

use super::expression::{Expr, Op};
use super::number::{MAX_DIGITS, whole};

/// A value, or why there is none.
pub(super) type Outcome = Result<BigRational, Failure>;

/// Why an operation gives no value here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub(super) enum Failure {
    #[error("has no value: a division by zero")]
    DivisionByZero,
    #[error("is beyond this backend: it takes whole exponents only")]
    FractionalExponent,
    #[error("is beyond this backend: the result would have more than {MAX_DIGITS} digits")]
    TooLarge,
}

/// Numerator and denominator stay below 2^3318, the last power of two below 10^[`MAX_DIGITS`].
const MAX_BITS: u64 = 3_318;

/// The value of the whole expression.
pub(super) fn evaluate(expr: &Expr) -> Outcome {
    match expr {
        Expr::Number(value) => Ok(value.clone()),
        Expr::Named { outcome, .. } => outcome.clone(),
        Expr::Negate(inner) => Ok(-evaluate(inner)?),
        Expr::Percent(inner) => bounded(evaluate(inner)? / BigRational::from(BigInt::from(100))),
        Expr::Binary(op, left, right) => apply(*op, &evaluate(left)?, &evaluate(right)?),
    }
}

/// The value of one operation.
pub(super) fn apply(op: Op, left: &BigRational, right: &BigRational) -> Outcome {
    match op {
        Op::Add => bounded(left + right),
        Op::Subtract => bounded(left - right),
        Op::Multiply | Op::Of => bounded(left * right),
        Op::Divide if right.is_zero() => Err(Failure::DivisionByZero),
        Op::Divide => bounded(left / right),
        Op::Power => power(left, right),
    }
}

/// `0^0` is 1, as in most of mathematics and every programming language.
fn power(base: &BigRational, exponent: &BigRational) -> Outcome {
    if !exponent.is_integer() {
        return Err(Failure::FractionalExponent);
    }

    if base.is_zero() && exponent.is_negative() {
        return Err(Failure::DivisionByZero);
    }

    if exponent.is_zero() || base.is_one() {
        return Ok(BigRational::one());
    }

    if base.is_zero() {
        return Ok(BigRational::zero());
    }

    if base.abs().is_one() {
        let odd = exponent.numer().bit(0);
        return Ok(if odd {
            base.clone()
        } else {
            BigRational::one()
        });
    }

    // The result has at least this many bits; known before any of them is worked out.
    let bits = base
        .numer()
        .bits()
        .max(base.denom().bits())
        .saturating_sub(1);

    let exponent = whole(exponent)
        .and_then(|exponent| i32::try_from(exponent).ok())
        .ok_or(Failure::TooLarge)?;
    if u64::from(exponent.unsigned_abs()).saturating_mul(bits) > MAX_BITS {
        return Err(Failure::TooLarge);
    }

    bounded(base.pow(exponent))
}

fn bounded(value: BigRational) -> Outcome {
    if value.numer().bits().max(value.denom().bits()) > MAX_BITS {
        return Err(Failure::TooLarge);
    }
    Ok(value)
}

/// How far the check may be off, as a part of the value: far above the rounding of a few hundred
/// operations, far below any slip.
const TOLERANCE: f64 = 1e-9;

/// Checks `value` by another way: the expression again in floating-point numbers, as a calculator
/// does it. Gives what it comes to there; `None` where those are too coarse or too small for it,
/// as after `2^3000` or in `0.1 + 0.2 - 0.3`. Remainders modulo a prime would be exact, and
/// few readers know what they say, above all of fractions.
pub(super) fn check_in_decimals(expr: &Expr, value: &BigRational) -> Option<f64> {
    let again = in_decimals(expr)?;
    let exact = value.to_f64()?;

    // A value so small that it became zero would agree with every other such value.
    let fits = exact.is_normal() || value.is_zero();

    // Infinities and NaN fail the comparison. The sum removes the sign of a zero.
    (fits && (again - exact).abs() <= exact.abs() * TOLERANCE).then_some(again + 0.0)
}

fn in_decimals(expr: &Expr) -> Option<f64> {
    Some(match expr {
        Expr::Number(value) => value.to_f64()?,
        Expr::Named { outcome, .. } => outcome.as_ref().ok()?.to_f64()?,
        Expr::Negate(inner) => -in_decimals(inner)?,
        Expr::Percent(inner) => in_decimals(inner)? / 100.0,
        Expr::Binary(op, left, right) => {
            let left = in_decimals(left)?;
            let right = in_decimals(right)?;
            match op {
                Op::Add => left + right,
                Op::Subtract => left - right,
                Op::Multiply | Op::Of => left * right,
                Op::Divide => left / right,
                Op::Power => left.powf(right),
            }
        }
    })
}
