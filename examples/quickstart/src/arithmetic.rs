//! Works out an expression, and keeps each operation on the way.

use std::str::FromStr;

use num_rational::Ratio;
use num_traits::{CheckedAdd, CheckedDiv, CheckedMul, CheckedSub, ToPrimitive, Zero};

pub(crate) type Number = Ratio<i64>;

/// The largest numerator and denominator. Larger ones would be shown inexactly.
const LARGEST: i64 = 1_000_000_000_000;

/// The most digits on each side of a point that are read, and after it that are shown.
const PLACES: usize = 6;

/// An expression that was worked out.
pub(crate) struct Calculation {
    /// The expression as it was read.
    pub(crate) text: String,
    pub(crate) value: Number,
    /// The value again, calculated in floating-point numbers.
    pub(crate) rounded: f64,
    /// The operations, in the order in which they were done.
    pub(crate) operations: Vec<Operation>,
}

pub(crate) struct Operation {
    /// Such as `Multiply 90 by (40 / 60)`.
    pub(crate) description: String,
    /// Such as `90 * (2 / 3)`.
    pub(crate) working: String,
    pub(crate) value: Number,
}

impl FromStr for Calculation {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let mut parser = Parser {
            rest: text,
            operations: Vec::new(),
        };
        let result = parser.sum()?;

        let unread = parser.rest.trim_start();
        if !unread.is_empty() {
            return Err(format!("I expected the end or an operator at `{unread}`"));
        }
        Ok(Self {
            text: result.text,
            value: result.value,
            rounded: result.rounded,
            operations: parser.operations,
        })
    }
}

/// Returns a number as people write it: `63`, `65.5`, or `10/3 ≈ 3.333333`.
pub(crate) fn text(value: Number) -> String {
    let rounded = value.to_f64().unwrap_or(f64::NAN);
    let ends = |places: &usize| (power_of_ten(*places) % value.denom()).is_zero();

    match (0..=PLACES).find(ends) {
        Some(places) => format!("{rounded:.places$}"),
        None => format!("{value} ≈ {rounded:.PLACES$}"),
    }
}

/// Returns a number as a part of an expression.
fn operand_text(value: Number) -> String {
    if text(value).contains('≈') {
        format!("({} / {})", value.numer(), value.denom())
    } else if value < Number::zero() {
        format!("({})", text(value))
    } else {
        text(value)
    }
}

fn power_of_ten(exponent: usize) -> i64 {
    (0..exponent).fold(1, |power: i64, _| power.saturating_mul(10))
}

#[derive(Clone, Copy)]
enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    PercentOf,
}

impl Operator {
    const SUMS: [Self; 2] = [Self::Add, Self::Subtract];
    const PRODUCTS: [Self; 3] = [Self::Multiply, Self::Divide, Self::PercentOf];

    fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::PercentOf => "% of",
        }
    }

    fn binding(self) -> Binding {
        match self {
            Self::Add | Self::Subtract => Binding::Sum,
            _ => Binding::Product,
        }
    }

    fn join(self, left: &str, right: &str) -> String {
        match self {
            Self::PercentOf => format!("{left}% of {right}"),
            _ => format!("{left} {} {right}", self.sign()),
        }
    }

    fn describe(self, left: &str, right: &str) -> String {
        match self {
            Self::Add => format!("Add {left} and {right}"),
            Self::Subtract => format!("Subtract {right} from {left}"),
            Self::Multiply => format!("Multiply {left} by {right}"),
            Self::Divide => format!("Divide {left} by {right}"),
            Self::PercentOf => format!("Take {left}% of {right}"),
        }
    }

    /// Returns `None` if the result would be too large, or if it divides by zero.
    fn apply(self, left: Number, right: Number) -> Option<Number> {
        let value = match self {
            Self::Add => left.checked_add(&right),
            Self::Subtract => left.checked_sub(&right),
            Self::Multiply => left.checked_mul(&right),
            Self::Divide if right.is_zero() => None,
            Self::Divide => left.checked_div(&right),
            Self::PercentOf => left.checked_mul(&(right / 100)),
        };
        value.filter(|value| value.numer().abs() <= LARGEST && *value.denom() <= LARGEST)
    }

    fn apply_rounded(self, left: f64, right: f64) -> f64 {
        match self {
            Self::Add => left + right,
            Self::Subtract => left - right,
            Self::Multiply => left * right,
            Self::Divide => left / right,
            Self::PercentOf => left * right / 100.0,
        }
    }
}

/// How tightly a form binds, loosest first.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
enum Binding {
    Sum,
    Product,
    Number,
}

/// A part of an expression that was worked out.
struct Operand {
    text: String,
    binding: Binding,
    value: Number,
    rounded: f64,
}

impl Operand {
    /// The text in parentheses, if it binds less tightly than `least`.
    fn text_within(&self, least: Binding) -> String {
        if self.binding < least {
            format!("({})", self.text)
        } else {
            self.text.clone()
        }
    }
}

/// Reads from left to right, and works out each operation as soon as it has read both sides.
struct Parser<'t> {
    rest: &'t str,
    operations: Vec<Operation>,
}

impl Parser<'_> {
    fn sum(&mut self) -> Result<Operand, String> {
        let mut left = self.product()?;
        while let Some(operator) = self.operator(&Operator::SUMS) {
            let right = self.product()?;
            left = self.apply(operator, &left, &right)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Operand, String> {
        let mut left = self.number()?;
        while let Some(operator) = self.operator(&Operator::PRODUCTS) {
            let right = self.number()?;
            left = self.apply(operator, &left, &right)?;
        }
        Ok(left)
    }

    /// Reads a number, or an expression in parentheses.
    fn number(&mut self) -> Result<Operand, String> {
        if self.eat("(") {
            let inner = self.sum()?;
            return if self.eat(")") {
                Ok(inner)
            } else {
                Err("a parenthesis is not closed".to_owned())
            };
        }

        let sign = if self.eat("-") { -1 } else { 1 };
        let unread = self.rest.trim_start();
        let end = unread.find(|next: char| !next.is_ascii_digit() && next != '.');
        let (digits, rest) = unread.split_at(end.unwrap_or(unread.len()));
        let value = decimal(digits)
            .ok_or_else(|| format!("I expected a number of up to {PLACES} digits at `{unread}`"))?;

        self.rest = rest;
        let value = value * sign;
        Ok(Operand {
            text: operand_text(value),
            binding: Binding::Number,
            rounded: value.to_f64().unwrap_or(f64::NAN),
            value,
        })
    }

    fn operator(&mut self, operators: &[Operator]) -> Option<Operator> {
        let mut operators = operators.iter().copied();
        operators.find(|operator| self.eat(operator.sign()))
    }

    fn eat(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start().strip_prefix(token);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn apply(
        &mut self,
        operator: Operator,
        left: &Operand,
        right: &Operand,
    ) -> Result<Operand, String> {
        let binding = operator.binding();
        // `8 - (3 - 2)` needs its parentheses, `(8 - 3) - 2` does not.
        let after = match binding {
            Binding::Sum => Binding::Product,
            _ => Binding::Number,
        };
        let text = operator.join(&left.text_within(binding), &right.text_within(after));

        let value = operator.apply(left.value, right.value).ok_or_else(|| {
            format!("{text} has no value, or one that is too large for this backend")
        })?;
        self.operations.push(Operation {
            description: operator.describe(
                &left.text_within(Binding::Number),
                &right.text_within(Binding::Number),
            ),
            working: operator.join(&operand_text(left.value), &operand_text(right.value)),
            value,
        });

        Ok(Operand {
            text,
            binding,
            value,
            rounded: operator.apply_rounded(left.rounded, right.rounded),
        })
    }
}

/// Reads digits with at most one point.
fn decimal(digits: &str) -> Option<Number> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() || whole.len() > PLACES || fraction.len() > PLACES {
        return None;
    }

    let numerator = format!("{whole}{fraction}").parse().ok()?;
    Some(Number::new(numerator, power_of_ten(fraction.len())))
}
