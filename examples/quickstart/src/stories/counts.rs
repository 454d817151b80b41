//! "Ann has 5 apples, buys 3 more and gives away 2. How many has she?"

use super::super::expression::{Expr, Op};
use super::super::tokens::Token;
use super::super::words::Reading;
use super::{is_beyond, mentions, number_at, word_at};

/// The longest name of a thing that is repeated in an answer, in characters.
const MAX_NAME: usize = 30;

const HAVING: [&str; 7] = ["has", "have", "had", "owns", "own", "starts", "start"];
const GAINING: [&str; 20] = [
    "buys", "buy", "bought", "gets", "get", "got", "finds", "find", "found", "receives", "receive",
    "received", "wins", "win", "won", "earns", "earn", "earned", "adds", "collects",
];
const LOSING: [&str; 23] = [
    "gives", "give", "gave", "eats", "eat", "ate", "loses", "lose", "lost", "sells", "sell",
    "sold", "spends", "spend", "spent", "uses", "use", "used", "drops", "drop", "breaks", "throws",
    "throw",
];

/// One number after a verb of having, then numbers after verbs of gaining or losing, all of the
/// same thing: `start + gained - lost`.
pub(super) fn read(tokens: &[&Token]) -> Option<Reading> {
    let question = tokens.iter().enumerate().rev().find(|(index, token)| {
        matches!(token, Token::Word(word) if word == "how")
            && matches!(word_at(tokens, index + 1), "many" | "much")
    });
    let (question, _) = question?;
    let story = tokens.get(..question)?;

    if is_beyond(tokens) || (question..tokens.len()).any(|index| number_at(tokens, index).is_some())
    {
        return None;
    }

    let mut total: Option<Expr> = None;
    let mut thing = "";
    let mut verb = None;

    for index in 0..story.len() {
        let Some(value) = number_at(story, index) else {
            verb = role(word_at(story, index)).or(verb);
            continue;
        };

        let after = word_at(story, index + 1);
        let amount = Expr::Number(value);
        total = Some(match (total, verb.take()?) {
            (None, Role::Has) => {
                thing = after;
                amount
            }
            (Some(before), Role::Gains) if is_of(thing, after) => {
                Expr::binary(Op::Add, before, amount)
            }
            (Some(before), Role::Loses) if is_of(thing, after) => {
                Expr::binary(Op::Subtract, before, amount)
            }
            _ => return None,
        });
    }

    // Somebody else's things: `Ann has 5. Ben has some too.`
    let expression =
        total.filter(|total| total.operations() > 0 && !matches!(verb, Some(Role::Has)))?;
    let thing: String = thing.chars().take(MAX_NAME).collect();
    let asked = tokens.get(question..).unwrap_or_default();
    let subject = if mentions(asked, &["left", "remain", "remains"]) {
        "The number left is"
    } else {
        "The answer is"
    };

    Some(Reading::story(
        expression,
        "start + gained - lost",
        subject.into(),
        &thing,
    ))
}

#[derive(Debug, Clone, Copy)]
enum Role {
    Has,
    Gains,
    Loses,
}

fn role(word: &str) -> Option<Role> {
    if HAVING.contains(&word) {
        Some(Role::Has)
    } else if GAINING.contains(&word) {
        Some(Role::Gains)
    } else if LOSING.contains(&word) {
        Some(Role::Loses)
    } else {
        None
    }
}

/// Whether the word after a number leaves it a number of the same thing.
fn is_of(thing: &str, after: &str) -> bool {
    let one = |word: &str| word.trim_end_matches('s').to_owned();
    matches!(
        after,
        "" | "more" | "of" | "to" | "away" | "and" | "from" | "then" | "on"
    ) || one(after) == one(thing)
}
