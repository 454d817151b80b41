use serde_json::Value;

use super::answering::{ANSWER, answer_field, answered, keep_answer, say_answer, verification, verified};
use crate::{
    Answer, Ask, Done, Draft, Driver, Next, Parameter, Reply, SolveError, Solving, Stage, Strategy,
    StrategyName, Thought, Turn, Work,
};

/// Step back to the principle behind the problem, then come down to the case (Zheng et al. 2023).
///
/// Three calls: for the more general question with the principle that answers it, for the solution that
/// holds to the principle, and for a check, which may correct the answer.
///
/// | stage | who speaks |
/// |---|---|
/// | `problem_reception` | the program: the problem as it is |
/// | `abstraction` | the model: the general question, and the principle |
/// | `principle_identification` | the program: the principle |
/// | `approach_selection` | the model: how it uses the principle, the case, the steps, the answer |
/// | `specific_application`, `step_by_step_solution` | the program: what the model said of each |
/// | `solution_verification` | the model, unless [told otherwise](Self::with_verification) |
/// | `final_response` | the program: the answer, corrected where it did not hold |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Solver, StepBack};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "question: How does the pressure of a gas change?\nprinciple: P V = n R T",
///     "approach: As a ratio.\napplication: T * 2, V * 8.\nsolution: P * 2 / 8 = P / 4.\nanswer: a quarter",
/// ]);
/// let solver = Solver::new(client, StepBack::new().with_verification(false));
/// let solved = solver.solve("The temperature of a gas doubles and its volume grows eightfold: the pressure?").await?;
/// assert_eq!(solved.answer(), Some("a quarter"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepBack {
    verification: bool,
}

impl Default for StepBack {
    fn default() -> Self {
        Self { verification: true }
    }
}

impl StepBack {
    /// With the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether the model checks its answer, which is one call more. Default: yes.
    #[must_use]
    pub fn with_verification(mut self, verification: bool) -> Self {
        self.verification = verification;
        self
    }
}

// What one reply says of several stages; the later ones find theirs in the notes.
const QUESTION: &str = "question";
const PRINCIPLE: &str = "principle";
const APPROACH: &str = "approach";
const APPLICATION: &str = "application";
const SOLUTION: &str = "solution";

impl Driver for StepBack {
    fn strategy(&self) -> Strategy {
        StrategyName::StepBack.strategy()
    }

    fn work(&self, turn: &Turn<'_>) -> Result<Work, SolveError> {
        let solving = turn.solving;
        let ask = |stages: &[&str]| {
            let prompts = stages.iter().filter_map(|stage| turn.strategy.stage(stage)).map(Stage::prompt);
            Ask::new(solving.transcript().clone(), prompts.collect::<Vec<_>>().join(" "))
        };
        let noted = |note: &str| solving.note(note).and_then(Value::as_str).unwrap_or_default();
        Ok(match turn.stage.name() {
            "problem_reception" => Work::say(solving.problem()),
            "abstraction" => Work::Ask(
                ask(&["abstraction", "principle_identification"])
                    .with_field(QUESTION, Parameter::text("the more general question"))
                    .with_field(PRINCIPLE, Parameter::text("the principle that answers it")),
            ),
            "principle_identification" => Work::say(noted(PRINCIPLE)).with(PRINCIPLE, noted(PRINCIPLE)),
            "approach_selection" => Work::Ask(
                ask(&["approach_selection", "specific_application", "step_by_step_solution"])
                    .with_field(APPROACH, Parameter::text("how you use the principle, and why"))
                    .with_field(APPLICATION, Parameter::text("the principle, applied to what is given"))
                    .with_field(SOLUTION, Parameter::text("the solution, step by step"))
                    .with_field(ANSWER, answer_field()),
            ),
            "specific_application" => Work::say(noted(APPLICATION)),
            "step_by_step_solution" => Work::say(noted(SOLUTION)),
            "solution_verification" if self.verification => verification(turn),
            "solution_verification" => Work::say("Not checked."),
            _ => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        let thought = match (done.reply(), stage.name()) {
            (Some(reply), "abstraction") => {
                solving.set_note(PRINCIPLE, reply.field(PRINCIPLE));
                Draft::at(stage.name(), with_thought(reply, QUESTION))
            }
            (Some(reply), "approach_selection") => {
                for part in [APPLICATION, SOLUTION] {
                    solving.set_note(part, reply.field(part));
                }
                keep_answer(solving, reply);
                Draft::at(stage.name(), with_thought(reply, APPROACH))
            }
            (Some(reply), _) => verified(solving, stage, reply),
            (None, _) => done.draft_at(stage),
        };
        solving.think(thought)?;
        Ok(next)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Nothing comes twice in this strategy, however alike its thoughts are.
    fn progress(&self, _: &Thought) -> Option<String> {
        None
    }
}

/// What the model thought before a field, and the field.
fn with_thought(reply: &Reply, field: &str) -> String {
    format!("{}\n{}", reply.text, reply.field(field)).trim().to_owned()
}
