//! "A train goes 60 km/h for 2.5 h. How far?" — two of speed, time and distance give the third.

use num_bigint::BigInt;
use num_rational::BigRational;

use super::super::expression::{Expr, Op};
use super::super::tokens::Token;
use super::super::words::Reading;
use super::{is_beyond, mentions, number_at, word_at};

/// A unit of length or time: its sign, and its size in metres, feet or seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Unit {
    sign: &'static str,
    size: u32,
    kind: UnitKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum UnitKind {
    Metric,
    Imperial,
    Time,
}

const KILOMETRE: Unit = Unit {
    sign: "km",
    size: 1_000,
    kind: UnitKind::Metric,
};
const METRE: Unit = Unit {
    sign: "m",
    size: 1,
    kind: UnitKind::Metric,
};
const MILE: Unit = Unit {
    sign: "miles",
    size: 5_280,
    kind: UnitKind::Imperial,
};
const HOUR: Unit = Unit {
    sign: "h",
    size: 3_600,
    kind: UnitKind::Time,
};
const MINUTE: Unit = Unit {
    sign: "min",
    size: 60,
    kind: UnitKind::Time,
};
const SECOND: Unit = Unit {
    sign: "s",
    size: 1,
    kind: UnitKind::Time,
};

/// A number with what it measures. A speed has both units.
struct Quantity {
    amount: Expr,
    length: Option<Unit>,
    time: Option<Unit>,
}

/// - speed and time: `distance = speed * time`, also over several legs, each with its own two;
/// - distance and speed: `time = distance / speed`, when "how long" is asked;
/// - distance and time: `speed = distance / time`, when "how fast" is asked.
pub(super) fn read(tokens: &[&Token]) -> Option<Reading> {
    if is_beyond(tokens) {
        return None;
    }

    let quantities = quantities(tokens)?;
    let how = tokens
        .iter()
        .enumerate()
        .find(|(_, token)| matches!(token, Token::Word(word) if word == "how"));
    let asked = how.map(|(index, _)| word_at(tokens, index + 1));
    let legs = quantities.chunks(2).map(leg).collect::<Option<Vec<_>>>();

    if let Some(legs) = legs {
        if !(asked.is_none() || asked == Some("far") || mentions(tokens, &["distance"])) {
            return None;
        }

        let unit = legs.first()?.1;
        let same = legs.iter().all(|(_, length)| *length == unit);
        let distance = legs
            .into_iter()
            .map(|(distance, _)| distance)
            .reduce(|all, leg| Expr::binary(Op::Add, all, leg))?;
        return same.then(|| {
            Reading::story(
                distance,
                "distance = speed * time",
                "The distance is".into(),
                unit.sign,
            )
        });
    }

    let [first, second] = quantities.as_slice() else {
        return None;
    };

    let (distance, other) = if first.time.is_none() {
        (first, second)
    } else {
        (second, first)
    };

    match (distance, other) {
        (
            Quantity {
                length: Some(from),
                time: None,
                amount,
            },
            Quantity {
                length: Some(length),
                time: Some(time),
                amount: speed,
            },
        ) if asked == Some("long") || mentions(tokens, &["time"]) => {
            let distance = converted(amount.clone(), *from, *length)?;
            let expression = Expr::binary(Op::Divide, distance, speed.clone());
            Some(Reading::story(
                expression,
                "time = distance / speed",
                "The time is".into(),
                time.sign,
            ))
        }
        (
            Quantity {
                length: Some(length),
                time: None,
                amount,
            },
            Quantity {
                length: None,
                time: Some(time),
                amount: duration,
            },
        ) if asked == Some("fast") || mentions(tokens, &["speed"]) => {
            let expression = Expr::binary(Op::Divide, amount.clone(), duration.clone());
            let unit = format!("{}/{}", length.sign, time.sign);
            Some(Reading::story(
                expression,
                "speed = distance / time",
                "The speed is".into(),
                &unit,
            ))
        }
        _ => None,
    }
}

/// Speed and time of one leg, in either order: the distance and its unit.
fn leg(pair: &[Quantity]) -> Option<(Expr, Unit)> {
    let [first, second] = pair else { return None };
    let (speed, duration) = if first.length.is_some() {
        (first, second)
    } else {
        (second, first)
    };

    let (Some(length), Some(per), None, Some(time)) =
        (speed.length, speed.time, duration.length, duration.time)
    else {
        return None;
    };

    let time = converted(duration.amount.clone(), time, per)?;
    Some((
        Expr::binary(Op::Multiply, speed.amount.clone(), time),
        length,
    ))
}

fn converted(amount: Expr, from: Unit, to: Unit) -> Option<Expr> {
    let number = |ratio: u32| Expr::Number(BigRational::from(BigInt::from(ratio)));
    if from.kind != to.kind {
        return None;
    }

    Some(match from.size.cmp(&to.size) {
        std::cmp::Ordering::Equal => amount,
        std::cmp::Ordering::Less => Expr::binary(Op::Divide, amount, number(to.size / from.size)),
        std::cmp::Ordering::Greater => {
            Expr::binary(Op::Multiply, amount, number(from.size / to.size))
        }
    })
}

/// Every number of the text with its unit; `None` as soon as one has none.
fn quantities(tokens: &[&Token]) -> Option<Vec<Quantity>> {
    let mut quantities: Vec<Quantity> = Vec::new();
    let mut index = 0;
    let mut end_of_last = None;

    while index < tokens.len() {
        let Some(value) = number_at(tokens, index) else {
            index += 1;
            continue;
        };

        let (length, time, after) = measure(tokens, index + 1)?;
        let amount = Expr::Number(value);
        let joined = end_of_last
            .is_some_and(|end| index == end || index == end + 1 && word_at(tokens, end) == "and");

        match (quantities.last_mut(), time) {
            // `2 hours and 30 minutes` is one time, in its first unit.
            (
                Some(Quantity {
                    amount: before,
                    length: None,
                    time: Some(larger),
                }),
                Some(smaller),
            ) if joined && length.is_none() && larger.size > smaller.size => {
                let more = converted(amount, smaller, *larger)?;
                *before = Expr::binary(Op::Add, before.clone(), more);
            }
            _ => quantities.push(Quantity {
                amount,
                length,
                time,
            }),
        }

        (index, end_of_last) = (after, Some(after));
    }

    Some(quantities)
}

/// The unit at `index`: length, time, and the index after it.
fn measure(tokens: &[&Token], index: usize) -> Option<(Option<Unit>, Option<Unit>, usize)> {
    match word_at(tokens, index) {
        "kph" | "kmh" => return Some((Some(KILOMETRE), Some(HOUR), index + 1)),
        "mph" => return Some((Some(MILE), Some(HOUR), index + 1)),
        _ => {}
    }

    let unit = unit(word_at(tokens, index))?;
    if unit.kind == UnitKind::Time {
        return Some((None, Some(unit), index + 1));
    }

    let per = tokens
        .get(index + 1)
        .is_some_and(|token| **token == Token::Symbol('/'))
        || matches!(word_at(tokens, index + 1), "per" | "an" | "a" | "every");
    match per
        .then(|| self::unit(word_at(tokens, index + 2)))
        .flatten()
    {
        Some(time) if time.kind == UnitKind::Time => Some((Some(unit), Some(time), index + 3)),
        _ => Some((Some(unit), None, index + 1)),
    }
}

fn unit(word: &str) -> Option<Unit> {
    Some(match word {
        "km" | "kilometre" | "kilometres" | "kilometer" | "kilometers" => KILOMETRE,
        "m" | "metre" | "metres" | "meter" | "meters" => METRE,
        "mi" | "mile" | "miles" => MILE,
        "h" | "hr" | "hrs" | "hour" | "hours" => HOUR,
        "min" | "mins" | "minute" | "minutes" => MINUTE,
        "s" | "sec" | "secs" | "second" | "seconds" => SECOND,
        _ => return None,
    })
}
