//! The methods, with settings that bound a run to a few calls, and the tools.

use cogwork_strategies::methods::{
    Linear, React, Rewoo, Scratchpad, SelfAsk, SelfConsistency, TreeOfThoughts,
};
use cogwork_strategies::{Method, StrategyName};
use cogwork_tools::schemars::{self, JsonSchema};
use cogwork_tools::{ToolError, Tools, function};
use serde::Deserialize;

pub(crate) fn method(name: StrategyName) -> Box<dyn Method> {
    match name {
        StrategyName::Linear => Box::new(Linear { max_thoughts: 6 }),
        StrategyName::React => Box::new(React { max_cycles: 3 }),
        StrategyName::Rewoo => Box::new(Rewoo { max_calls: 4 }),
        StrategyName::Scratchpad => Box::new(Scratchpad {
            max_steps: 3,
            ..Scratchpad::default()
        }),
        StrategyName::SelfAsk => Box::new(SelfAsk {
            max_questions: 3,
            ..SelfAsk::default()
        }),
        StrategyName::SelfConsistency => Box::new(SelfConsistency {
            paths: 3,
            ..SelfConsistency::default()
        }),
        // The scores of a small model are arbitrary, so no branch is pruned for a low one.
        StrategyName::TreeOfThoughts => Box::new(TreeOfThoughts {
            approaches: 2,
            proposals: 2,
            depth: 2,
            threshold: 0.0,
            ..TreeOfThoughts::default()
        }),
        other => other.into(),
    }
}

/// The input of the calculator.
#[derive(Deserialize, JsonSchema)]
struct Calculation {
    /// Two numbers with `+`, `-`, `*` or `/` between them.
    expression: String,
}

/// Returns a calculator.
pub(crate) fn tools() -> Result<Tools, ToolError> {
    let calculate = |calculation: Calculation| async move {
        let expression = calculation.expression;
        calculated(&expression).ok_or_else(|| {
            ToolError::input(format!(
                "`{expression}` isn't a calculation; expected one such as `6 * 7`"
            ))
        })
    };

    let description = "Calculates with two numbers, as in 6 * 7.";
    Tools::new().with(function("calculate", description, calculate))
}

fn calculated(expression: &str) -> Option<String> {
    // The first character may be the sign of a number.
    let mut signs = expression.char_indices().skip(1);
    let (place, sign) = signs.find(|(_, character)| "+-*/".contains(*character))?;
    let left: f64 = expression[..place].trim().parse().ok()?;
    let right: f64 = expression[place + 1..].trim().parse().ok()?;

    let result = match sign {
        '+' => left + right,
        '-' => left - right,
        '*' => left * right,
        _ => left / right,
    };
    Some(result.to_string())
}
