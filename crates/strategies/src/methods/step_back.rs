use schemars::JsonSchema;
use serde::Deserialize;

use super::shared::{respond, verified};
use crate::session::ThoughtDraft;
use crate::{Answer, Ask, Method, Solve, Stop, Strategy, StrategyName};

/// Steps back to the principle behind the problem, then applies it (Zheng et al. 2023).
///
/// The model is called three times: for the more general question with the principle that
/// answers it, for the solution that follows from the principle, and for a check that may
/// correct the answer.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `abstraction` | the model: the general question, and the principle |
/// | `principle_identification` | the method: the principle |
/// | `approach_selection` | the model: how it uses the principle, the case, the steps, the answer |
/// | `specific_application`, `step_by_step_solution` | the method: the parts of the same reply |
/// | `solution_verification` | the model, unless [switched off](Self::verification) |
/// | `final_response` | the method: the answer, corrected if it was wrong |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::StepBack;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "question: How does the pressure of a gas change?\nprinciple: P V = n R T",
///     "approach: As a ratio.\napplication: T * 2, V * 8.\nsolution: P * 2 / 8 = P / 4.\nanswer: a quarter",
/// ]);
/// let solver = Solver::new(client, StepBack { verification: false });
/// let solved = solver.solve("The temperature of a gas doubles and its volume grows eightfold: the pressure?").await?;
/// assert_eq!(solved.answer(), Some("a quarter"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepBack {
    /// Whether the model checks its answer, which costs one more call. The default is `true`.
    pub verification: bool,
}

impl Default for StepBack {
    fn default() -> Self {
        Self { verification: true }
    }
}

/// The principle behind a problem.
#[derive(Deserialize, JsonSchema)]
struct Principle {
    thought: String,
    /// the more general question
    question: String,
    /// the principle that answers it
    principle: String,
}

/// The solution that follows from the principle.
#[derive(Deserialize, JsonSchema)]
struct Solution {
    thought: String,
    /// how you use the principle, and why
    approach: String,
    /// the principle, applied to what is given
    application: String,
    /// the solution, step by step
    solution: String,
    /// the answer to the problem, short and complete
    answer: String,
}

impl Method for StepBack {
    fn strategy(&self) -> Strategy {
        StrategyName::StepBack.strategy()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        // One question for both: the principle is the answer to the general question.
        let prompt = cx.prompt(&["abstraction", "principle_identification"])?;
        let step = cx.ask("abstraction", Ask::of::<Principle>(prompt))?;
        cx.think("abstraction", below(&step.thought, &step.question))?;
        let principle = ThoughtDraft::at("principle_identification", &*step.principle);
        cx.add(principle.with("principle", step.principle))?;

        let prompt = cx.prompt(&[
            "approach_selection",
            "specific_application",
            "step_by_step_solution",
        ])?;
        let question = Ask::of::<Solution>(prompt).answering(cx.problem());
        let step = cx.ask("approach_selection", question)?;
        cx.keep(&*step.answer);
        // One reply has the text of three stages.
        cx.think("approach_selection", below(&step.thought, &step.approach))?;
        cx.think("specific_application", step.application)?;
        cx.think("step_by_step_solution", step.solution)?;

        let check = self.verification;
        let answer = verified(cx, "solution_verification", step.answer, check)?;
        respond(cx, answer)
    }
}

/// Returns the thought and a text below it.
fn below(thought: &str, text: &str) -> String {
    format!("{thought}\n{text}").trim().to_owned()
}
