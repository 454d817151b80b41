use cogwork_tools::{ToolError, Tools, function};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::calculation::calculate;

#[derive(Deserialize, JsonSchema)]
struct Calculation {
    /// Numbers with +, -, *, / and parentheses, such as (1 + 2) * 3.
    calculation: String,
}

/// Returns the tool `calculator`, which arms can name.
pub fn calculator() -> Tools {
    let tool = function(
        "calculator",
        "Calculates.",
        |input: Calculation| async move {
            let value = calculate(&input.calculation);
            value.map(|value| value.to_string()).ok_or_else(|| {
                let expected =
                    "expected numbers with +, -, *, / and parentheses, such as (1 + 2) * 3";
                ToolError::failed(format!("`{}` has no value; {expected}", input.calculation))
            })
        },
    );
    Tools::new().with(tool).unwrap_or_default()
}
