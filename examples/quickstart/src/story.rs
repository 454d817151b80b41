//! A story told in words: "A train goes 60 km/h for 2.5 h. How far does it go?"

use num_bigint::BigInt;
use num_rational::BigRational;

use super::expression::{Expr, Op};
use super::tokens::{Lexeme, Token};
use super::words::{Reading, is_among};

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

/// `distance = speed * time`, also over several legs, each with its own two. Takes a problem whole or leaves it alone:
/// every number must have its part, so that no story is answered by half.
pub(super) fn read(lexemes: &[Lexeme]) -> Option<Reading> {
    let tokens: Vec<&Token> = lexemes.iter().map(|lexeme| &lexeme.token).collect();
    if is_beyond(&tokens) {
        return None;
    }

    let quantities = quantities(&tokens)?;
    let legs = quantities.chunks(2).map(leg).collect::<Option<Vec<_>>>()?;
    let how = tokens
        .iter()
        .position(|token| matches!(token, Token::Word(word) if word == "how"));
    let asked = how.map(|index| word_at(&tokens, index + 1));
    if !(asked.is_none() || asked == Some("far") || mentions(&tokens, "distance")) {
        return None;
    }

    let unit = legs.first()?.1;
    let is_same = legs.iter().all(|(_, length)| *length == unit);
    let distance = legs
        .into_iter()
        .map(|(distance, _)| distance)
        .reduce(|all, leg| Expr::binary(Op::Add, all, leg))?;

    is_same.then(|| {
        Reading::story(
            distance,
            "distance = speed * time",
            "The distance is".into(),
            unit.sign,
        )
    })
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
        let Some(Token::Number(value)) = tokens.get(index) else {
            index += 1;
            continue;
        };

        let (length, time, after) = measure(tokens, index + 1)?;
        let amount = Expr::Number(value.clone());
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

/// The word at `index`, or an empty one.
fn word_at<'a>(tokens: &[&'a Token], index: usize) -> &'a str {
    match tokens.get(index) {
        Some(Token::Word(word)) => word,
        _ => "",
    }
}

/// Returns whether the text contains any word of the list.
fn mentions(tokens: &[&Token], list: &str) -> bool {
    tokens
        .iter()
        .any(|token| matches!(token, Token::Word(word) if is_among(list, word)))
}

/// Words that need more understanding than this story has.
const BEYOND: &str = "\
    half double twice triple third quarter percent dozen both another average remaining rest faster \
    slower towards toward meet opposite discount off tax except not times as than less fewer back \
    equally share";

fn is_beyond(tokens: &[&Token]) -> bool {
    mentions(tokens, BEYOND)
        || tokens.iter().any(|token| {
            matches!(
                token,
                Token::Symbol('%' | '-' | '+' | '*' | '^' | '=' | '(')
            )
        })
}
