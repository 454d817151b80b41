/// Calculates with named variables until they contain the result (Nye et al. 2021).
///
/// The model is called once for the initial values, once for each step, and once for the result. A
/// step only needs to set the variables that change; each thought of `state_tracking` contains all
/// of them. There can be up to 64 variables with 64 KiB of JSON in total.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `scratchpad_initialization` | the model: the variables and their first values |
/// | `iterative_calculation` | the model: a step, its changes, and whether it is the last one |
/// | `state_tracking` | the driver: all variables after the step |
/// | `continuation_decision` | the driver |
/// | `result_extraction` | the model |
/// | `final_response` | the driver: the result |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Scratchpad, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     r#"state_variables: {"total": 0}"#,
///     "thought: 17 * 3 is 51.\nstate_variables: total = 51\ndone: yes",
///     "answer: 51",
/// ]);
/// let solved = Solver::new(client, Scratchpad::new().with_max_steps(10)).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Scratchpad {
    pub(super) max_steps: usize,
}

impl Default for Scratchpad {
    fn default() -> Self {
        Self { max_steps: 30 }
    }
}

impl Scratchpad {
    /// Creates a driver with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of steps, which is at least 1. Once it is reached, the result is
    /// determined from the current variables. The default is 30.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps.max(1);
        self
    }
}
