use schemars::JsonSchema;
use serde::Deserialize;

use super::shared::{or, respond, verified};
use crate::session::ThoughtDraft;
use crate::{Answer, Ask, Method, Solve, Stop, Strategy, StrategyName};

/// Divides the problem into steps and works through them (Wei et al. 2022).
///
/// The model is called three times: for the steps, for their results with the answer, and for a
/// check that may correct the answer.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the method: the problem, unchanged |
/// | `step_decomposition` | the model; each step becomes a separate thought |
/// | `sequential_reasoning` | the model; each result becomes a separate thought |
/// | `solution_formulation` | the method: the answer |
/// | `answer_verification` | the model, unless [switched off](Self::verification) |
/// | `final_response` | the method: the answer, corrected if it was wrong |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::Solver;
/// use cogwork_strategies::methods::ChainOfThoughtMethod;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
///     "thought: 17 is 10 and 7.\nresults:\n- 30\n- 21\n- 51\nanswer: 51",
/// ]);
/// let method = ChainOfThoughtMethod { verification: false, ..Default::default() };
/// let solved = Solver::new(client, method).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// let thoughts = solved.session().thoughts().iter();
/// let steps = thoughts.filter(|thought| thought.stage == "step_decomposition");
/// assert_eq!(steps.count(), 4); // the steps, after a thought about them
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainOfThoughtMethod {
    /// Whether the model checks its answer, which costs one more call. The default is `true`.
    pub verification: bool,
    /// The maximum number of steps, from 1 to 100. If the model lists more, it is asked again. The
    /// default is 20.
    pub max_steps: usize,
}

impl Default for ChainOfThoughtMethod {
    fn default() -> Self {
        Self {
            verification: true,
            max_steps: 20,
        }
    }
}

/// The steps of a problem.
#[derive(Deserialize, JsonSchema)]
struct Steps {
    thought: String,
    /// the steps
    #[schemars(length(min = 1))]
    steps: Vec<String>,
}

/// The results of the steps.
#[derive(Deserialize, JsonSchema)]
struct Results {
    thought: String,
    /// what each step gives, in the order of the steps
    #[schemars(length(min = 1))]
    results: Vec<String>,
    /// the answer to the problem, short and complete
    answer: String,
}

impl Method for ChainOfThoughtMethod {
    fn strategy(&self) -> Strategy {
        StrategyName::ChainOfThought.strategy()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        cx.think_problem()?;

        let most = self.max_steps.clamp(1, 100);
        let question = Ask::of::<Steps>(cx.prompt(&["step_decomposition"])?)
            // The schema asks for no more, and the check holds for the other formats.
            .narrowed("steps", |key| key.offering_items(1, most))
            .with_check(move |read| match read.steps.len() {
                steps if steps <= most => Ok(()),
                steps => Err(format!(
                    "`steps` has {steps} items, expected at most {most}"
                )),
            });
        let Steps { thought, steps } = cx.ask("step_decomposition", question)?;
        cx.think("step_decomposition", or(&thought, "The steps:"))?;
        for step in &steps {
            cx.add(ThoughtDraft::here(&**step))?;
        }

        let question = Ask::of::<Results>(cx.prompt(&["sequential_reasoning"])?)
            // Only asked for: fewer results are still of use.
            .narrowed("results", |key| key.offering_items(1, steps.len()))
            .answering(cx.problem());
        let read = cx.ask("sequential_reasoning", question)?;
        cx.keep(&*read.answer);
        cx.think("sequential_reasoning", or(&read.thought, "The results:"))?;
        for result in read.results.iter().take(steps.len()) {
            cx.add(ThoughtDraft::here(&**result))?;
        }

        cx.think("solution_formulation", &*read.answer)?;
        let check = self.verification;
        let answer = verified(cx, "answer_verification", read.answer, check)?;
        respond(cx, answer)
    }
}
