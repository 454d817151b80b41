use super::state::Variable;
use crate::{Parameter, ParameterType};

/// Calculates with named variables until they contain the result (Nye et al. 2021).
///
/// The model is called once for the initial values and once for each step. It isn't called for the
/// result if the result is [a variable](Self::with_result). A step only needs to set the variables
/// that change; each thought of `state_tracking` contains all of them. If a value is of the wrong
/// type or a variable is unknown, the model is asked again. There can be up to 64 variables with 64
/// KiB of JSON in total.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `scratchpad_initialization` | the model: the variables and their first values |
/// | `iterative_calculation` | the model: a step, its changes, and whether it is the last one |
/// | `state_tracking` | the method: all variables after the step |
/// | `continuation_decision` | the method |
/// | `result_extraction` | the method: the value of the result variable; otherwise, the model |
/// | `final_response` | the method: the result |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{ParameterType, Scratchpad, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let number = ParameterType::Number { min: None, max: None };
/// let method = Scratchpad::new().with_variable("total", number, "the product so far").with_result("total");
/// let client = ScriptedClient::new([
///     r#"state_variables: {"total": 0}"#,
///     "thought: 17 * 3 is 51.\nstate_variables: total = fifty-one\ndone: yes",
///     "thought: 17 * 3 is 51.\nstate_variables: total = 51\ndone: yes",
/// ]);
/// let solved = Solver::new(client.clone(), method).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// let last = client.requests().pop().ok_or("no request")?;
/// assert_eq!(
///     last.messages().last().map(|message| message.text()),
///     Some(
///         "That reply cannot be used: `state_variables.total` is the text \"fifty-one\", expected a number.\n\
///          Write the whole reply again, in the form that was asked for."
///     ),
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scratchpad {
    pub(super) variables: Vec<Variable>,
    pub(super) others: Option<bool>,
    pub(super) result: Option<String>,
    pub(super) max_steps: usize,
}

impl Default for Scratchpad {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            others: None,
            result: None,
            max_steps: 30,
        }
    }
}

impl Scratchpad {
    /// Creates a method with the default settings: the model chooses the variables and their types.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a variable with its type and a description for the model. It replaces a variable of the
    /// same name. By default, there are none.
    #[must_use]
    pub fn with_variable(
        mut self,
        name: impl Into<String>,
        kind: ParameterType,
        description: impl Into<String>,
    ) -> Self {
        let variable = Variable {
            name: name.into(),
            parameter: Parameter::new(kind, description),
        };
        self.variables.retain(|known| known.name != variable.name);
        self.variables.push(variable);

        self
    }

    /// Sets whether the model may add variables of any type. By default, it may if no
    /// [variable](Self::with_variable) was added.
    #[must_use]
    pub fn with_other_variables(mut self, others: bool) -> Self {
        self.others = Some(others);
        self
    }

    /// Sets the variable that contains the result. Its value is the answer, and the model isn't
    /// asked for one. By default, the model is asked.
    #[must_use]
    pub fn with_result(mut self, variable: impl Into<String>) -> Self {
        self.result = Some(variable.into());
        self
    }

    /// Sets the maximum number of steps, which is at least 1. Once it is reached, the result is
    /// determined from the current variables. The default is 30.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps.max(1);
        self
    }
}
