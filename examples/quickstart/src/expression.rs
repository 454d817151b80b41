//! An arithmetic expression as a tree, and its text.

use std::fmt;

use num_rational::BigRational;
use num_traits::Signed;

use super::evaluate::Outcome;
use super::number::decimal;

/// An expression. Its depth is bounded by the parser's limits, so recursion over it is safe.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Expr {
    /// A number of zero or more whose decimal ends.
    Number(BigRational),
    /// An earlier result, under its name in the text.
    Named { name: String, outcome: Outcome },
    /// `-x`
    Negate(Box<Expr>),
    /// `x%`, always one hundredth of x: `80 + 10%` is 80.1.
    Percent(Box<Expr>),
    /// Two operands.
    Binary(Op, Box<Expr>, Box<Expr>),
}

/// An operation on two operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Add,
    Subtract,
    Multiply,
    /// A product said as a part of something: `15% of 80`.
    Of,
    Divide,
    Power,
}

/// How tightly a form binds, loosest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Sum,
    Product,
    Negation,
    Power,
    Atom,
}

impl Op {
    fn binding(self) -> Binding {
        match self {
            Self::Add | Self::Subtract => Binding::Sum,
            Self::Multiply | Self::Of | Self::Divide => Binding::Product,
            Self::Power => Binding::Power,
        }
    }

    fn symbol(self) -> &'static str {
        match self {
            Self::Add => " + ",
            Self::Subtract => " - ",
            Self::Multiply => " * ",
            Self::Of => " of ",
            Self::Divide => " / ",
            Self::Power => "^",
        }
    }
}

impl Expr {
    pub(super) fn binary(op: Op, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// The expression that writes `value`: a number, `-number`, or `numerator / denominator`.
    pub(super) fn from_value(value: &BigRational) -> Self {
        if value.is_negative() {
            return Self::Negate(Box::new(Self::from_value(&-value)));
        }

        if decimal(value).is_some() {
            return Self::Number(value.clone());
        }

        let part = |part: &num_bigint::BigInt| Self::Number(BigRational::from(part.clone()));
        Self::binary(Op::Divide, part(value.numer()), part(value.denom()))
    }

    /// How many operations on two operands it holds.
    pub(super) fn operations(&self) -> usize {
        match self {
            Self::Number(_) | Self::Named { .. } => 0,
            Self::Negate(inner) | Self::Percent(inner) => inner.operations(),
            Self::Binary(_, left, right) => 1 + left.operations() + right.operations(),
        }
    }

    /// Whether it holds a division.
    pub(super) fn divides(&self) -> bool {
        match self {
            Self::Number(_) | Self::Named { .. } => false,
            Self::Negate(inner) | Self::Percent(inner) => inner.divides(),
            Self::Binary(op, left, right) => *op == Op::Divide || left.divides() || right.divides(),
        }
    }

    /// Returns whether it needs parentheses as an operand of `op`, so that the tree reads back the same.
    pub(super) fn needs_parentheses(&self, op: Op, on_the_right: bool) -> bool {
        let own = self.binding();
        match (op, on_the_right) {
            (Op::Power, true) => own < Binding::Power,
            (Op::Power, false) => own <= Binding::Power,
            (_, true) => own <= op.binding() || own == Binding::Negation,
            (_, false) => own < op.binding(),
        }
    }

    fn binding(&self) -> Binding {
        match self {
            Self::Number(_) | Self::Named { .. } | Self::Percent(_) => Binding::Atom,
            Self::Negate(_) => Binding::Negation,
            Self::Binary(op, ..) => op.binding(),
        }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, in_parentheses: bool) -> fmt::Result {
        if in_parentheses {
            write!(f, "({self})")
        } else {
            write!(f, "{self}")
        }
    }
}

impl fmt::Display for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            // A value without a decimal comes from nowhere: the parser and `from_value` make none.
            Self::Number(value) => {
                f.write_str(&decimal(value).unwrap_or_else(|| value.to_string()))
            }
            Self::Named { name, .. } => write!(f, "({name})"),
            Self::Negate(inner) => {
                f.write_str("-")?;
                inner.write(f, inner.binding() <= Binding::Negation)
            }
            Self::Percent(inner) => {
                inner.write(f, inner.binding() < Binding::Atom)?;
                f.write_str("%")
            }
            Self::Binary(op, left, right) => {
                left.write(f, left.needs_parentheses(*op, false))?;
                f.write_str(op.symbol())?;
                right.write(f, right.needs_parentheses(*op, true))
            }
        }
    }
}
