//! Calculations as text, such as `(8 - 2) * 4`.

use cogwork_tools::{ToolError, Tools, function};
use minijinja::Environment;
use regex::Regex;
use schemars::JsonSchema;
use serde::Deserialize;

/// The maximum length of a calculation in bytes.
const MOST_BYTES: usize = 500;

/// Calculates the value of a text with numbers, parentheses and `+`, `-`, `*` and `/`.
pub(crate) fn calculate(text: &str) -> Option<f64> {
    let text = text
        .replace(['×', '·', 'x'], "*")
        .replace(['÷', ':'], "/")
        .replace(['−', '–'], "-")
        .replace(['`', '$'], " ");
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || "=.".contains(c));

    // Expressions of minijinja can do more: powers, texts, functions. It calls itself for each sign, so a
    // long text would need a large stack.
    let is_allowed = |character: char| {
        character.is_ascii_digit() || character.is_whitespace() || ".+-*/()".contains(character)
    };
    let is_simple = text.chars().all(is_allowed) && !text.contains("**") && !text.contains("//");
    if !is_simple || text.len() > MOST_BYTES {
        return None;
    }

    // minijinja reads `0.5`, but not `.5`.
    let bare_point = Regex::new(r"(^|[^0-9])\.").ok()?;
    let text = bare_point.replace_all(text, "${1}0.");
    let environment = Environment::empty();
    let calculation = environment.compile_expression(&text).ok()?;
    let value = f64::try_from(calculation.eval(()).ok()?).ok()?;
    value.is_finite().then_some(value)
}

/// An expected calculation.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Calculation {
    /// The numbers that may be used, each at most once.
    pub numbers: Vec<i64>,
    /// The result.
    pub target: i64,
    /// Whether every number must be used.
    #[serde(default)]
    pub all: bool,
}

impl Calculation {
    pub(crate) fn accepts(&self, answer: &str) -> bool {
        let mut lines = answer.lines().rev().map(calculation_in);
        let line = lines.find(|line| line.contains(|c: char| c.is_ascii_digit()));
        let line = line.unwrap_or_default();

        let mut left = self.numbers.clone();
        let used = line.split(|c: char| !c.is_ascii_digit() && c != '.');
        for used in used.filter(|number| !number.trim_matches('.').is_empty()) {
            let used = used.parse().unwrap_or(f64::NAN);
            let place = left.iter().position(|number| *number as f64 == used);
            let Some(place) = place else { return false };
            left.swap_remove(place);
        }

        let is_target = |value: f64| (value - self.target as f64).abs() < 1e-6;
        (!self.all || left.is_empty()) && calculate(line).is_some_and(is_target)
    }
}

/// Returns what a line such as `So it is: **3 * 8** = 24.` has between the words and the result.
fn calculation_in(line: &str) -> &str {
    let line = line.rsplit_once(':').map_or(line, |(_, behind)| behind);
    let line = line.split('=').next().unwrap_or_default();
    line.trim_matches(|c: char| !c.is_alphanumeric() && !"(-.)".contains(c))
}

#[derive(Deserialize, JsonSchema)]
struct Input {
    /// Numbers with +, -, *, / and parentheses, such as (1 + 2) * 3.
    calculation: String,
}

/// Returns the tool `calculator`, which arms can name.
pub fn calculator() -> Tools {
    let calculated = |input: Input| async move {
        let text = input.calculation;
        let value = calculate(&text).map(|value| value.to_string());
        let expected = "expected numbers with +, -, *, / and parentheses, such as (1 + 2) * 3";
        value.ok_or_else(|| ToolError::failed(format!("`{text}` has no value; {expected}")))
    };
    let tool = function("calculator", "Calculates.", calculated);
    Tools::new().with(tool).unwrap_or_default()
}
