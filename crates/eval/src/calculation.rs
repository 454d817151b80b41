//! Calculations as text, such as `(8 - 2) * 4`.

/// The maximum depth of parentheses.
const DEPTH: usize = 32;

/// Calculates the value of a text with numbers, parentheses and `+`, `-`, `*` and `/`.
pub(crate) fn calculate(text: &str) -> Option<f64> {
    Calculation::new(text).whole()
}

/// Returns whether the last line with a calculation has this result, and uses the numbers at most
/// once, or exactly once if `all` are required.
pub(crate) fn is_calculation(answer: &str, numbers: &[i64], target: i64, all: bool) -> bool {
    let mut lines = answer.lines().rev().map(|line| {
        let line = line.rsplit_once(':').map_or(line, |(_, behind)| behind);
        line.split('=').next().unwrap_or_default()
    });
    let is_calculation = |line: &&str| line.contains(|c: char| c.is_ascii_digit());
    let Some(line) = lines.find(is_calculation) else {
        return false;
    };

    let mut calculation = Calculation::new(line);
    let Some(value) = calculation.whole() else {
        return false;
    };
    let mut left: Vec<_> = numbers.iter().map(|number| *number as f64).collect();
    let is_allowed = calculation.used.iter().all(|used| {
        let place = left.iter().position(|number| number == used);
        place.map(|place| left.swap_remove(place)).is_some()
    });
    is_allowed && (!all || left.is_empty()) && (value - target as f64).abs() < 1e-6
}

/// A calculation that is being read.
struct Calculation<'a> {
    rest: &'a str,
    depth: usize,
    used: Vec<f64>,
}

impl<'a> Calculation<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            depth: 0,
            used: Vec::new(),
        }
    }

    fn whole(&mut self) -> Option<f64> {
        let value = self.sum()?;
        let is_whole = !self.rest.contains(char::is_alphanumeric);
        (is_whole && value.is_finite()).then_some(value)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take("+-") {
            let next = self.product()?;
            value += if sign == '+' { next } else { -next };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.number()?;
        while let Some(sign) = self.take("*/") {
            let next = self.number()?;
            value *= if sign == '*' { next } else { next.recip() };
        }
        Some(value)
    }

    fn number(&mut self) -> Option<f64> {
        if self.take("-").is_some() {
            return self.inside(Self::number).map(|number| -number);
        }
        if self.take("(").is_some() {
            let value = self.inside(Self::sum)?;
            return self.take(")").map(|_| value);
        }

        let is_part = |character: char| character.is_ascii_digit() || character == '.';
        let rest = self.rest.trim_start_matches(is_part);
        let number = self.rest.strip_suffix(rest)?.parse().ok()?;
        self.rest = rest;
        self.used.push(number);
        Some(number)
    }

    /// Reads what is one level deeper.
    fn inside(&mut self, read: fn(&mut Self) -> Option<f64>) -> Option<f64> {
        self.depth += 1;
        let value = (self.depth <= DEPTH).then(|| read(self))?;
        self.depth -= 1;
        value
    }

    /// Takes the next character if it is one of these, in their usual spelling.
    fn take(&mut self, signs: &str) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '`', '$']);
        let mut characters = self.rest.chars();
        let sign = match characters.next()? {
            '×' | '·' | 'x' => '*',
            '÷' | ':' => '/',
            '−' | '–' => '-',
            other => other,
        };

        signs.contains(sign).then(|| {
            self.rest = characters.as_str();
            sign
        })
    }
}
