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
        return Ok(if odd { base.clone() } else { BigRational::one() });
    }
    // The result has at least this many bits; known before any of them is worked out.
    let bits = base.numer().bits().max(base.denom().bits()).saturating_sub(1);
    let exponent =
        whole(exponent).and_then(|exponent| i32::try_from(exponent).ok()).ok_or(Failure::TooLarge)?;
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

/// The moduli of the check, tried in order until no denominator vanishes.
const MODULI: [u64; 4] = [97, 101, 1_009, 2_147_483_647];

/// Checks `value` by remainders, a generalisation of casting out nines: the expression is worked
/// out again in a finite field, where every number stays small. Gives the modulus and the
/// remainder that both sides leave; `None` where no modulus fits or the sides differ.
pub(super) fn check_by_remainders(expr: &Expr, value: &BigRational) -> Option<(u64, u64)> {
    MODULI.into_iter().find_map(|modulus| {
        let left = remainder(expr, modulus)?;
        let right = remainder_of(value, modulus)?;
        (left == right).then_some((modulus, left))
    })
}

fn remainder(expr: &Expr, modulus: u64) -> Option<u64> {
    match expr {
        Expr::Number(value) => remainder_of(value, modulus),
        Expr::Named { outcome, .. } => remainder_of(outcome.as_ref().ok()?, modulus),
        Expr::Negate(inner) => Some((modulus - remainder(inner, modulus)?) % modulus),
        Expr::Percent(inner) => Some(remainder(inner, modulus)? * inverse(100, modulus)? % modulus),
        // Exponents live modulo p - 1, so they are taken from their exact value.
        Expr::Binary(Op::Power, base, exponent) => {
            let exponent = evaluate(exponent).ok().filter(BigRational::is_integer)?.to_integer();
            match remainder(base, modulus)? {
                _ if exponent.is_zero() => Some(1),
                0 if exponent.is_negative() => None,
                0 => Some(0),
                base => Some(power_modulo(base, residue(&exponent, modulus - 1)?, modulus)),
            }
        }
        Expr::Binary(op, left, right) => {
            let (left, right) = (remainder(left, modulus)?, remainder(right, modulus)?);
            Some(match op {
                Op::Add => (left + right) % modulus,
                Op::Subtract => (left + modulus - right) % modulus,
                Op::Multiply | Op::Of => left * right % modulus,
                Op::Divide | Op::Power => left * inverse(right, modulus)? % modulus,
            })
        }
    }
}

fn remainder_of(value: &BigRational, modulus: u64) -> Option<u64> {
    Some(residue(value.numer(), modulus)? * inverse(residue(value.denom(), modulus)?, modulus)? % modulus)
}

fn residue(number: &BigInt, modulus: u64) -> Option<u64> {
    let modulus = BigInt::from(modulus);
    (((number % &modulus) + &modulus) % &modulus).to_u64()
}

/// By Fermat's little theorem; zero has no inverse.
fn inverse(number: u64, modulus: u64) -> Option<u64> {
    (!number.is_multiple_of(modulus)).then(|| power_modulo(number % modulus, modulus - 2, modulus))
}

/// Every modulus is below 2^31, so the products fit.
fn power_modulo(mut base: u64, mut exponent: u64, modulus: u64) -> u64 {
    let mut result = 1;
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent /= 2;
    }
    result
}
