//! An expression out of tokens: signs, and the words that stand for them.

use thiserror::Error;

use super::expression::{Expr, Op};
use super::tokens::{Lexeme, Token, quoted};

/// The most operations of one expression.
pub(super) const MAX_OPERATIONS: usize = 200;

/// The deepest nesting of parentheses, signs and exponents.
pub(super) const MAX_NESTING: usize = 40;

/// Why tokens that begin like an expression are none.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub(super) enum ParseError {
    #[error("I expected {wanted} {place}")]
    Expected { wanted: &'static str, place: String },
    #[error("I do not understand the word {word} {place}, where I expected {wanted}")]
    Word {
        word: String,
        place: String,
        wanted: &'static str,
    },
    #[error(
        "I read % as percent, not as the remainder of a division, and so two numbers stand side by side"
    )]
    AfterPercent,
    #[error("two numbers stand side by side; I need the sign between them, as in 2 * (3 + 4)")]
    SideBySide,
    #[error("it nests deeper than {MAX_NESTING} levels")]
    Nesting,
    #[error("it holds more than {MAX_OPERATIONS} operations")]
    Operations,
}

type Parsed = Result<Expr, ParseError>;

/// Parses the longest expression at the start; gives it and how many tokens it took.
pub(super) fn parse(lexemes: &[Lexeme]) -> Result<(Expr, usize), ParseError> {
    let mut parser = Parser {
        lexemes,
        position: 0,
        nesting: 0,
        operations: 0,
    };

    let expr = parser.sum()?;
    if parser.begins_operand() {
        let last = parser
            .position
            .checked_sub(1)
            .and_then(|last| lexemes.get(last));
        let percent = last.is_some_and(|last| last.token == Token::Symbol('%'));
        return Err(if percent {
            ParseError::AfterPercent
        } else {
            ParseError::SideBySide
        });
    }

    Ok((expr, parser.position))
}

/// Whether an expression may begin with these tokens.
pub(super) fn begins(lexemes: &[Lexeme]) -> bool {
    let mut parser = Parser {
        lexemes,
        position: 0,
        nesting: 0,
        operations: 0,
    };

    while parser.minus() {}
    parser.begins_operand()
}

struct Parser<'a> {
    lexemes: &'a [Lexeme],
    position: usize,
    nesting: usize,
    operations: usize,
}

impl Parser<'_> {
    fn sum(&mut self) -> Parsed {
        let mut left = self.product()?;
        loop {
            let op = if self.symbol('+') || self.words(&["plus"]) {
                Op::Add
            } else if self.symbol('-') || self.words(&["minus"]) {
                Op::Subtract
            } else {
                return Ok(left);
            };

            let right = self.product()?;
            left = self.binary(op, left, right)?;
        }
    }

    fn product(&mut self) -> Parsed {
        let mut left = self.signed()?;
        loop {
            let op = if self.symbol('*') || self.words(&["x"]) || self.words(&["times"]) {
                Op::Multiply
            } else if self.symbol('/') || self.words(&["divided", "by"]) {
                Op::Divide
            } else if matches!(left, Expr::Binary(Op::Divide, ..)) && self.words(&["of"]) {
                Op::Of
            } else {
                return Ok(left);
            };

            let right = self.signed()?;
            left = self.binary(op, left, right)?;
        }
    }

    /// Every way to nest goes through here, so here the depth is counted.
    fn signed(&mut self) -> Parsed {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(ParseError::Nesting);
        }

        let expr = if self.minus() {
            Expr::Negate(Box::new(self.signed()?))
        } else {
            self.power()?
        };

        self.nesting -= 1;
        Ok(expr)
    }

    fn minus(&mut self) -> bool {
        self.symbol('-') || self.words(&["minus"])
    }

    fn power(&mut self) -> Parsed {
        let base = self.postfix()?;
        if self.symbol('^') {
            let exponent = self.signed()?;
            return self.binary(Op::Power, base, exponent);
        }

        Ok(base)
    }

    fn postfix(&mut self) -> Parsed {
        let mut expr = self.operand()?;
        while self.symbol('%') || self.words(&["percent"]) {
            expr = Expr::Percent(Box::new(expr));
            if self.words(&["of"]) {
                let whole = self.signed()?;
                return self.binary(Op::Of, expr, whole);
            }
        }

        Ok(expr)
    }

    fn operand(&mut self) -> Parsed {
        if self.symbol('(') {
            let inner = self.sum()?;
            if !self.symbol(')') {
                return Err(self.expected("a closing parenthesis"));
            }

            return Ok(inner);
        }

        if let Some(number) = self.number() {
            return Ok(number);
        }

        Err(self.expected("a number or an opening parenthesis"))
    }

    fn number(&mut self) -> Option<Expr> {
        let Token::Number(value) = &self.lexemes.get(self.position)?.token else {
            return None;
        };

        self.position += 1;
        Some(Expr::Number(value.clone()))
    }

    fn binary(&mut self, op: Op, left: Expr, right: Expr) -> Parsed {
        self.operations += 1;
        if self.operations > MAX_OPERATIONS {
            return Err(ParseError::Operations);
        }

        Ok(Expr::binary(op, left, right))
    }

    fn begins_operand(&self) -> bool {
        let next = self.lexemes.get(self.position);
        next.is_some_and(|next| matches!(next.token, Token::Number(_) | Token::Symbol('(')))
    }

    fn symbol(&mut self, wanted: char) -> bool {
        let found = self
            .lexemes
            .get(self.position)
            .is_some_and(|lexeme| lexeme.token == Token::Symbol(wanted));
        self.position += usize::from(found);
        found
    }

    fn words(&mut self, wanted: &[&str]) -> bool {
        let rest = self.lexemes.get(self.position..).unwrap_or_default();
        let found = rest.len() >= wanted.len()
            && rest.iter().zip(wanted).all(
                |(lexeme, wanted)| matches!(&lexeme.token, Token::Word(word) if word == wanted),
            );
        self.position += if found { wanted.len() } else { 0 };

        found
    }

    /// What is wrong with the next token.
    fn expected(&self, wanted: &'static str) -> ParseError {
        let token = |index: usize| self.lexemes.get(index).map(|lexeme| &lexeme.token);
        let place = match token(self.position) {
            None => "at the end".to_owned(),
            Some(Token::Symbol(symbol)) => format!("before {symbol:?}"),
            Some(Token::Number(_)) => "before the next number".to_owned(),
            Some(Token::Word(word)) => {
                let place = match self.position.checked_sub(1).and_then(token) {
                    Some(Token::Word(before)) => format!("after {}", quoted(before)),
                    _ => "here".to_owned(),
                };
                return ParseError::Word {
                    word: quoted(word),
                    place,
                    wanted,
                };
            }
        };

        ParseError::Expected { wanted, place }
    }
}
