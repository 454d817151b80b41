//! From a problem's text to the expression that answers it, or an honest refusal.

use thiserror::Error;

use super::expression::Expr;
use super::parser::{self, ParseError, begins};
use super::story;
use super::tokens::{Lexeme, Token, TokenError, quoted, tokens};

/// The most characters of a problem.
pub(super) const MAX_PROBLEM: usize = 4_000;

/// A problem as it was read.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    /// What to work out.
    pub(super) expression: Expr,
    /// What the words of a story come to: `distance = speed * time`.
    pub(super) rule: Option<&'static str>,
    /// How the answer begins: `The distance is`. Only with a story.
    pub(super) subject: Option<String>,
    /// The text after the number, such as ` km`. Empty without a story.
    pub(super) unit: String,
}

impl Reading {
    /// A bare expression.
    pub(super) fn plain(expression: Expr) -> Self {
        Self {
            expression,
            rule: None,
            subject: None,
            unit: String::new(),
        }
    }

    /// A story.
    pub(super) fn story(expression: Expr, rule: &'static str, subject: String, unit: &str) -> Self {
        let unit = if unit.is_empty() {
            String::new()
        } else {
            format!(" {unit}")
        };
        Self {
            expression,
            rule: Some(rule),
            subject: Some(subject),
            unit,
        }
    }
}

/// Why a problem was not read. Each completes "I cannot read this problem: …".
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum Unreadable {
    #[error("it is empty")]
    Empty,
    #[error("it is longer than {MAX_PROBLEM} characters")]
    Long,
    #[error(transparent)]
    Token(#[from] TokenError),
    #[error(transparent)]
    Parse(#[from] ParseError),
    #[error("it holds no number")]
    NoNumber,
    #[error("I found a number outside the expression, and not the story that I know")]
    StrayNumber,
    #[error("I do not know what {0:?} means here")]
    StraySymbol(char),
    #[error("the word {} beside the expression may change its meaning", quoted(.0))]
    StrayWord(String),
    #[error("there is a number in it, and nothing I know how to do with it")]
    NothingToDo,
}

/// Reads a problem: first as a story, then as one expression within a sentence.
pub(super) fn read(problem: &str) -> Result<Reading, Unreadable> {
    // The length in bytes is never below that in characters, and known at once.
    if problem.len() > 4 * MAX_PROBLEM || problem.chars().count() > MAX_PROBLEM {
        return Err(Unreadable::Long);
    }

    if problem.trim().is_empty() {
        return Err(Unreadable::Empty);
    }

    let lexemes = tokens(problem)?;
    match story::read(&lexemes) {
        Some(story) => Ok(story),
        None => sentence(&lexemes).map(Reading::plain),
    }
}

/// The one expression of a sentence: `What is (17 + 4) * 3?`. The rest of the sentence may hold
/// no number, no sign and no word that could change the meaning.
fn sentence(lexemes: &[Lexeme]) -> Result<Expr, Unreadable> {
    let rest_from = |index: usize| lexemes.get(index..).unwrap_or_default();
    let start = (0..lexemes.len())
        .find(|&index| begins(rest_from(index)))
        .ok_or(Unreadable::NoNumber)?;
    let before = lexemes.get(..start).unwrap_or_default();
    harmless(before)?;

    let (expr, length) = parser::parse(rest_from(start))?;
    let after = trailing_equals(rest_from(start + length));
    let glued = |lexeme: Option<&Lexeme>| lexeme.is_some_and(|lexeme| lexeme.glued);

    // `f(16)` is a function, `5!` a factorial.
    let touching = [
        (lexemes.get(start), before.last()),
        (after.first(), after.first()),
    ];
    for (later, beside) in touching {
        if let Some(Lexeme {
            token: Token::Word(word),
            ..
        }) = beside
            && glued(later)
        {
            return Err(Unreadable::StrayWord(word.clone()));
        }
    }

    if glued(after.first())
        && after
            .first()
            .is_some_and(|lexeme| lexeme.token == Token::Symbol('!'))
    {
        return Err(Unreadable::StraySymbol('!'));
    }

    harmless(after)?;
    let bare = matches!(expr, Expr::Number(_) | Expr::Negate(_)) && expr.operations() == 0;
    let asked = before
        .iter()
        .chain(after)
        .all(|lexeme| match &lexeme.token {
            Token::Word(word) => is_among(ASKING, word),
            _ => true,
        });

    if bare && !asked {
        Err(Unreadable::NothingToDo)
    } else {
        Ok(expr)
    }
}

/// Drops the `=` of `2 + 3 =` and `2 + 3 = ?`.
fn trailing_equals(after: &[Lexeme]) -> &[Lexeme] {
    match after {
        [
            Lexeme {
                token: Token::Symbol('='),
                ..
            },
            rest @ ..,
        ] => rest,
        _ => after,
    }
}

fn harmless(lexemes: &[Lexeme]) -> Result<(), Unreadable> {
    for lexeme in lexemes {
        match &lexeme.token {
            Token::Number(_) => return Err(Unreadable::StrayNumber),
            Token::Word(word) if changes_meaning(word) => {
                return Err(Unreadable::StrayWord(word.clone()));
            }
            Token::Symbol('.' | ',' | ';' | ':' | '?' | '!' | '"' | '\'' | '`')
            | Token::Word(_) => {}
            Token::Symbol(symbol) => return Err(Unreadable::StraySymbol(*symbol)),
        }
    }

    Ok(())
}

/// Words around a bare number that leave nothing else to do: `What is 7?`
const ASKING: &str = "\
    what what's is the value of calculate compute evaluate how much result please answer give me tell \
    find equal equals";

/// Words that would make the value of the expression the wrong answer. A list of what is harmless
/// would refuse honest long sentences; this one is wide instead, and step 1 of the plan
/// shows what was read.
const CHANGING: &str = "\
    root sqrt cbrt cube square log ln lg exp sin cos tan factorial mod modulo modulus remainder rest \
    absolute abs average mean median mode max maximum min minimum round rounded floor ceil ceiling \
    truncated prime factor factors divisor divisors gcd lcm digit digits derivative integral binary hex \
    hexadecimal octal base degrees radians half third quarter thirds quarters dozen hundred thousand \
    million billion reciprocal inverse negated opposite not without except than decimal decimals doubled \
    halved double twice triple sum difference product quotient squared cubed power increased decreased \
    reduced negative multiplied over cent";

const NUMBERS: &str = "\
    zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen \
    sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety";

/// Single letters other than the article and the speaker are unknowns: `x + 3`.
fn changes_meaning(word: &str) -> bool {
    let single = word.chars().count() == 1 && !matches!(word, "a" | "i");
    single
        || word
            .split('-')
            .any(|part| is_among(CHANGING, part) || is_among(NUMBERS, part))
}

/// Returns whether a list, whose words have spaces between them, contains the word.
pub(super) fn is_among(list: &str, word: &str) -> bool {
    list.split(' ').any(|known| known == word)
}
