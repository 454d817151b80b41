//! Calculations that a model wrote, such as `(8 - 2) * 4 = 24`.

/// The maximum depth of parentheses.
const DEPTH: usize = 32;

/// Returns whether the last line with a calculation has this result, and uses the numbers at most
/// once, or exactly once if `all` are required.
pub(crate) fn is_calculation(answer: &str, numbers: &[i64], target: i64, all: bool) -> bool {
    let lines = answer.lines().rev().map(|line| {
        let line = line.rsplit_once(':').map_or(line, |(_, behind)| behind);
        line.split('=').next().unwrap_or_default()
    });
    let calculations =
        lines.filter(|line| line.contains(|character: char| character.is_ascii_digit()));
    let Some(calculation) = calculations.take(1).next() else {
        return false;
    };

    let mut reader = Reader::new(calculation);
    let Some(value) = reader.whole() else {
        return false;
    };

    let mut left = numbers.to_vec();
    let is_allowed = reader.used.iter().all(|used| {
        let place = left.iter().position(|number| number == used);
        place.map(|place| left.swap_remove(place)).is_some()
    });
    is_allowed && (!all || left.is_empty()) && (value - target as f64).abs() < 1e-6
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
    used: Vec<i64>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str) -> Self {
        Self {
            rest: text,
            depth: 0,
            used: Vec::new(),
        }
    }

    fn whole(&mut self) -> Option<f64> {
        let value = self.sum()?;
        let rest = self
            .rest
            .trim_matches(|character: char| !character.is_alphanumeric());
        rest.is_empty().then_some(value)
    }

    /// Takes the next character if it is one of these, in their usual spelling.
    fn take(&mut self, signs: &str) -> Option<char> {
        self.rest = self.rest.trim_start_matches([' ', '\t', '`', '$']);
        let first = self.rest.chars().next()?;
        let sign = match first {
            '×' | '·' | 'x' => '*',
            '÷' | ':' => '/',
            '−' | '–' => '-',
            other => other,
        };
        if !signs.contains(sign) {
            return None;
        }

        self.rest = self.rest.get(first.len_utf8()..)?;
        Some(sign)
    }

    fn sum(&mut self) -> Option<f64> {
        let mut value = self.product()?;
        while let Some(sign) = self.take("+-") {
            let next = self.product()?;
            value = if sign == '+' {
                value + next
            } else {
                value - next
            };
        }
        Some(value)
    }

    fn product(&mut self) -> Option<f64> {
        let mut value = self.number()?;
        while let Some(sign) = self.take("*/") {
            let next = self.number()?;
            value = if sign == '*' {
                value * next
            } else {
                value / next
            };
        }
        Some(value)
    }

    fn number(&mut self) -> Option<f64> {
        if self.take("(").is_some() {
            self.depth += 1;
            let inside = (self.depth <= DEPTH).then(|| self.sum())?;
            self.take(")")?;
            self.depth -= 1;
            return inside;
        }

        let digits = self.rest.trim_start_matches(|c: char| c.is_ascii_digit());
        let length = self.rest.len() - digits.len();
        let number: i64 = self.rest.get(..length)?.parse().ok()?;
        self.rest = digits;
        self.used.push(number);
        Some(number as f64)
    }
}
