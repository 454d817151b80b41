//! A few stories told in words. Each takes a problem whole or leaves it alone: every number
//! must have its part, so that no story is answered by half.

mod counts;
mod motion;
mod prices;

use num_rational::BigRational;

use super::parser::number_word;
use super::tokens::{Lexeme, Token};
use super::words::Reading;

/// The first story that fits.
pub(super) fn read(lexemes: &[Lexeme]) -> Option<Reading> {
    let tokens: Vec<&Token> = lexemes.iter().map(|lexeme| &lexeme.token).collect();
    motion::read(&tokens)
        .or_else(|| prices::read(&tokens))
        .or_else(|| counts::read(&tokens))
}

/// The word at `index`, or an empty one.
fn word_at<'a>(tokens: &[&'a Token], index: usize) -> &'a str {
    match tokens.get(index) {
        Some(Token::Word(word)) => word,
        _ => "",
    }
}

/// The number at `index`, in digits or as a word.
fn number_at(tokens: &[&Token], index: usize) -> Option<BigRational> {
    match tokens.get(index)? {
        Token::Number(value) => Some(value.clone()),
        Token::Word(word) => number_word(word),
        Token::Symbol(_) => None,
    }
}

/// Returns whether the text contains any of these words.
fn mentions(tokens: &[&Token], words: &[&str]) -> bool {
    tokens
        .iter()
        .any(|token| matches!(token, Token::Word(word) if words.contains(&word.as_str())))
}

/// Words that need more understanding than any of these stories has.
const BEYOND: [&str; 32] = [
    "half",
    "double",
    "twice",
    "triple",
    "third",
    "quarter",
    "percent",
    "dozen",
    "both",
    "another",
    "average",
    "remaining",
    "rest",
    "faster",
    "slower",
    "towards",
    "toward",
    "meet",
    "opposite",
    "discount",
    "off",
    "tax",
    "except",
    "not",
    "times",
    "as",
    "than",
    "less",
    "fewer",
    "back",
    "equally",
    "share",
];

fn is_beyond(tokens: &[&Token]) -> bool {
    mentions(tokens, &BEYOND)
        || tokens.iter().any(|token| {
            matches!(
                token,
                Token::Symbol('%' | '-' | '+' | '*' | '^' | '=' | '(')
            )
        })
}
