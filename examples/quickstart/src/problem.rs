//! Reads a problem: an expression within a question, or how far something goes.

use crate::arithmetic::Calculation;

/// The most characters of a problem, which bounds the nesting of its parentheses.
const MAX_CHARACTERS: usize = 200;

/// The most operations, so that a run ends within the limits of the loop.
const MAX_OPERATIONS: usize = 10;

/// Words that may surround an expression. Any other word could change what is asked for.
const ASKING: [&str; 12] = [
    "what",
    "what's",
    "is",
    "how",
    "much",
    "the",
    "value",
    "result",
    "of",
    "calculate",
    "compute",
    "please",
];

/// A problem that was read.
pub(crate) struct Problem {
    pub(crate) calculation: Calculation,
    /// Whether it asks for a distance, in km.
    pub(crate) is_distance: bool,
}

impl Problem {
    /// Reads a problem.
    ///
    /// # Errors
    ///
    /// Returns why it can't be read.
    pub(crate) fn read(problem: &str) -> Result<Self, String> {
        if problem.chars().count() > MAX_CHARACTERS {
            return Err(format!("it is longer than {MAX_CHARACTERS} characters"));
        }

        let distance = distance(problem);
        let is_distance = distance.is_some();
        let expression = match distance {
            Some(expression) => expression,
            None => expression(problem)?,
        };

        let calculation: Calculation = expression.parse()?;
        match calculation.operations.len() {
            0 => Err("there is nothing to calculate in it".to_owned()),
            1..=MAX_OPERATIONS => Ok(Self {
                calculation,
                is_distance,
            }),
            _ => Err(format!("it has more than {MAX_OPERATIONS} operations")),
        }
    }
}

/// Finds the expression of a question: `(17 + 4) * 3` in `What is (17 + 4) * 3?`.
fn expression(problem: &str) -> Result<String, String> {
    let problem = problem.replace(['×', '·'], "*").replace('÷', "/");
    let is_part = |part: char| part.is_ascii_digit() || "()-".contains(part);
    let (Some(start), Some(last)) = (problem.find(is_part), problem.rfind(is_part)) else {
        return Err("there is no number in it".to_owned());
    };

    // The last part is one byte long.
    let (before, rest) = problem.split_at(start);
    let (expression, after) = rest.split_at(last + 1 - start);

    let words = before.split_whitespace().chain(after.split_whitespace());
    let mut words = words.map(|word| word.trim_matches(['?', '.', '=', ':', ',']));
    match words.find(|word| !word.is_empty() && !ASKING.contains(&word.to_lowercase().as_str())) {
        Some(word) => Err(format!("I don't know what `{word}` means here")),
        None => Ok(expression.to_owned()),
    }
}

/// Turns `60 km/h for 2.5 h, then 90 km/h for 40 min` into an expression. Every number must have its
/// part in it, so that no problem is solved by half.
fn distance(problem: &str) -> Option<String> {
    let words: Vec<&str> = problem
        .split_whitespace()
        .map(|word| word.trim_end_matches(['.', ',', '?']))
        .collect();

    let legs: Vec<String> = words
        .windows(5)
        .filter_map(|words| match words {
            [speed, "km/h", "for", hours, "h"] => Some(format!("{speed} * {hours}")),
            [speed, "km/h", "for", minutes, "min"] => Some(format!("{speed} * ({minutes} / 60)")),
            _ => None,
        })
        .collect();

    let is_number = |word: &&&str| word.starts_with(|first: char| first.is_ascii_digit());
    let is_asked = problem.to_lowercase().contains("how far");
    let is_whole = words.iter().filter(is_number).count() == 2 * legs.len();
    (is_asked && is_whole && !legs.is_empty()).then(|| legs.join(" + "))
}
