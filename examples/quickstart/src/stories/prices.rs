//! "3 pens at 2.50 each and 2 books at 7 each, paid with 30. How much change?"

use super::super::expression::{Expr, Op};
use super::super::tokens::Token;
use super::super::words::Reading;
use super::{is_beyond, mentions, number_at, word_at};

/// Pairs of a count and a price each; then, when change is asked for, what is paid.
///
/// - cost: `count * price + …`
/// - change: `paid - (count * price + …)`
pub(super) fn read(tokens: &[&Token]) -> Option<Reading> {
    if is_beyond(tokens)
        || !mentions(
            tokens,
            &[
                "change", "cost", "costs", "pay", "pays", "total", "spend", "spends",
            ],
        )
    {
        return None;
    }

    let numbers: Vec<usize> = (0..tokens.len())
        .filter(|&index| number_at(tokens, index).is_some())
        .collect();
    let change = mentions(tokens, &["change"]);
    let (pairs, paid) = match numbers.split_last() {
        Some((&last, pairs)) if change => (pairs, Some(last)),
        _ => (numbers.as_slice(), None),
    };
    let currency = currency(tokens, &numbers)?;
    let number = |index: usize| number_at(tokens, index).map(Expr::Number);
    let mut cost: Option<Expr> = None;

    for pair in pairs.chunks(2) {
        let [count, price] = *pair else { return None };
        if !is_count(tokens, count) || !is_price(tokens, price) {
            return None;
        }

        let line = Expr::binary(Op::Multiply, number(count)?, number(price)?);
        cost = Some(match cost {
            Some(before) => Expr::binary(Op::Add, before, line),
            None => line,
        });
    }

    let cost = cost?;
    let Some(paid) = paid else {
        return Some(Reading::story(
            cost,
            "cost = count * price",
            "The cost is".into(),
            currency,
        ));
    };

    if !is_payment(tokens, paid) {
        return None;
    }

    let change = Expr::binary(Op::Subtract, number(paid)?, cost);
    Some(Reading::story(
        change,
        "change = paid - count * price",
        "The change is".into(),
        currency,
    ))
}

/// A count is before the name of a thing.
fn is_count(tokens: &[&Token], index: usize) -> bool {
    !matches!(
        word_at(tokens, index + 1),
        "" | "each" | "apiece" | "per" | "of" | "and" | "for"
    )
}

/// A price is followed by `each`, `apiece` or `per`, a name of money between them or not.
fn is_price(tokens: &[&Token], index: usize) -> bool {
    (1..=2).any(|ahead| {
        matches!(
            word_at(tokens, index + ahead),
            "each" | "apiece" | "per" | "a"
        )
    })
}

/// Up to four words back, a payment is announced.
fn is_payment(tokens: &[&Token], index: usize) -> bool {
    (1..=4)
        .filter_map(|back| index.checked_sub(back))
        .any(|back| {
            matches!(
                word_at(tokens, back),
                "pay"
                    | "pays"
                    | "paid"
                    | "paying"
                    | "with"
                    | "hand"
                    | "hands"
                    | "give"
                    | "gives"
                    | "from"
            )
        })
}

/// The one currency of all prices, or none at all; `None` where they are mixed.
fn currency(tokens: &[&Token], numbers: &[usize]) -> Option<&'static str> {
    let named = |index: usize| {
        let before = index.checked_sub(1).and_then(|before| tokens.get(before));
        match (before, word_at(tokens, index + 1)) {
            (Some(Token::Symbol('$')), _) | (_, "dollar" | "dollars") => Some("dollars"),
            (Some(Token::Symbol('€')), _) | (_, "euro" | "euros") => Some("euros"),
            (Some(Token::Symbol('£')), _) | (_, "pound" | "pounds") => Some("pounds"),
            (_, "cent" | "cents" | "pence" | "pennies") => Some("cents"),
            _ => None,
        }
    };

    let mut names = numbers.iter().filter_map(|&index| named(index));
    let first = names.next().unwrap_or_default();
    names.all(|name| name == first).then_some(first)
}
