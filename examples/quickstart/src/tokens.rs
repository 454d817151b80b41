//! A problem's text as numbers, words and symbols.

use num_rational::BigRational;
use thiserror::Error;

use super::number::{MAX_DIGITS, parse_decimal};

/// A piece of the problem.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Token {
    /// Digits with at most one point; separators of thousands taken out.
    Number(BigRational),
    /// Letters, in lower case; a hyphen or apostrophe between letters belongs to the word.
    Word(String),
    /// Any other character; the signs of arithmetic in their one spelling `+ - * / ^`.
    Symbol(char),
}

/// A token, and whether it follows the one before without a space.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Lexeme {
    pub(super) token: Token,
    pub(super) glued: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum TokenError {
    #[error("I read the digits 0 to 9 only, not {0:?}")]
    Digit(char),
    #[error("a comma may only separate thousands, as in 1,000; a decimal takes a point, as in 1.5")]
    Comma,
    #[error("a number may have one decimal point only")]
    Point,
    #[error("a number may have at most {MAX_DIGITS} digits")]
    Digits,
}

/// The longest part of a word that a message repeats, in characters.
const MAX_QUOTED: usize = 30;

/// A word of the problem for a message, in quotes.
pub(super) fn quoted(word: &str) -> String {
    match word.char_indices().nth(MAX_QUOTED) {
        Some((end, _)) => format!("{:?}", format!("{}…", word.get(..end).unwrap_or_default())),
        None => format!("{word:?}"),
    }
}

/// Splits `text`, whose length the caller bounds.
pub(super) fn tokens(text: &str) -> Result<Vec<Lexeme>, TokenError> {
    let characters: Vec<char> = text.chars().collect();
    let mut lexemes = Vec::new();
    let mut glued = false;
    let mut rest = characters.as_slice();

    while let Some((&first, tail)) = rest.split_first() {
        let (token, after) = match first {
            _ if first.is_whitespace() => {
                (glued, rest) = (false, tail);
                continue;
            }
            '0'..='9' => number(rest)?,
            '.' if tail.first().is_some_and(char::is_ascii_digit) => number(rest)?,
            _ if first.is_alphabetic() => word(rest),
            _ if first.is_numeric() => return Err(TokenError::Digit(first)),
            '*' if tail.first() == Some(&'*') => {
                (Token::Symbol('^'), tail.get(1..).unwrap_or_default())
            }
            _ => (Token::Symbol(usual(first)), tail),
        };

        lexemes.push(Lexeme { token, glued });
        (glued, rest) = (true, after);
    }

    Ok(lexemes)
}

fn usual(symbol: char) -> char {
    match symbol {
        '×' | '⋅' | '·' | '∙' | '✕' => '*',
        '÷' => '/',
        '−' | '–' => '-',
        '’' => '\'',
        '“' | '”' => '"',
        other => other,
    }
}

fn word(rest: &[char]) -> (Token, &[char]) {
    let length = (0..rest.len())
        .find(|&index| {
            let letter = |index: usize| {
                rest.get(index)
                    .is_some_and(|character| character.is_alphabetic())
            };
            let joint = rest
                .get(index)
                .is_some_and(|character| matches!(character, '-' | '\'' | '’'));
            !(letter(index) || joint && letter(index + 1))
        })
        .unwrap_or(rest.len());

    let (word, after) = rest.split_at(length);
    (
        Token::Word(
            word.iter()
                .collect::<String>()
                .to_lowercase()
                .replace('’', "'"),
        ),
        after,
    )
}

fn number(rest: &[char]) -> Result<(Token, &[char]), TokenError> {
    let (whole, mut after) = digits(rest);
    let mut text = whole;
    let grouped = text.len() <= 3 && !text.starts_with('0');

    while let [',', tail @ ..] = after
        && tail.first().is_some_and(char::is_ascii_digit)
    {
        let (group, next) = digits(tail);
        if !grouped || text.is_empty() || group.len() != 3 {
            return Err(TokenError::Comma);
        }

        text.push_str(&group);
        after = next;
    }

    if let ['.', tail @ ..] = after
        && tail.first().is_some_and(char::is_ascii_digit)
    {
        let (fraction, next) = digits(tail);
        text = format!("{text}.{fraction}");
        after = next;

        if matches!(after, [',' | '.', digit, ..] if digit.is_ascii_digit()) {
            return Err(TokenError::Point);
        }
    }

    Ok((
        Token::Number(parse_decimal(&text).ok_or(TokenError::Digits)?),
        after,
    ))
}

fn digits(rest: &[char]) -> (String, &[char]) {
    let length = rest
        .iter()
        .position(|character| !character.is_ascii_digit())
        .unwrap_or(rest.len());
    let (digits, after) = rest.split_at(length);
    (digits.iter().collect(), after)
}
