use schemars::JsonSchema;
use serde::Deserialize;

use super::answering::{
    answered, ask, keep_answer, noted, say_answer, take_verification, verify, with_answer,
};
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Ask, Done, Driver, Next, SolveError, Solving, Stage, StageTurn, StageWork, Strategy,
    StrategyName, ThoughtDraft,
};

/// Steps back to the principle behind the problem, then applies it (Zheng et al. 2023).
///
/// The model is called three times: for the more general question with the principle that
/// answers it, for the solution that follows from the principle, and for a check that may
/// correct the answer.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `abstraction` | the model: the general question, and the principle |
/// | `principle_identification` | the driver: the principle |
/// | `approach_selection` | the model: how it uses the principle, the case, the steps, the answer |
/// | `specific_application`, `step_by_step_solution` | the driver: the parts of the same reply |
/// | `solution_verification` | the model, unless [switched off](Self::with_verification) |
/// | `final_response` | the driver: the answer, corrected if it was wrong |
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
    /// Creates a driver with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the model checks its answer, which costs one more call. The default is
    /// `true`.
    #[must_use]
    pub fn with_verification(mut self, verification: bool) -> Self {
        self.verification = verification;
        self
    }
}

stage_names! {
    /// The stages of `step_back`.
    enum StepBackStage for StepBack {
        ProblemReception = "problem_reception",
        Abstraction = "abstraction",
        PrincipleIdentification = "principle_identification",
        ApproachSelection = "approach_selection",
        SpecificApplication = "specific_application",
        StepByStepSolution = "step_by_step_solution",
        SolutionVerification = "solution_verification",
        FinalResponse = "final_response",
    }
}

// One reply covers several stages. Its fields for later stages are kept in notes.
const PRINCIPLE: &str = "principle";
const APPLICATION: &str = "application";
const SOLUTION: &str = "solution";

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

impl Driver for StepBack {
    fn strategy(&self) -> Strategy {
        StrategyName::StepBack.strategy()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match StepBackStage::of(turn.stage.name())? {
            StepBackStage::ProblemReception => StageWork::say(solving.problem()),
            StepBackStage::Abstraction => ask_for_principle(turn),
            StepBackStage::PrincipleIdentification => say_note(solving, PRINCIPLE)
                .with(PRINCIPLE, noted(solving, PRINCIPLE).unwrap_or_default()),
            StepBackStage::ApproachSelection => ask_for_solution(turn),
            StepBackStage::SpecificApplication => say_note(solving, APPLICATION),
            StepBackStage::StepByStepSolution => say_note(solving, SOLUTION),
            StepBackStage::SolutionVerification => verify(turn, self.verification),
            StepBackStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let thought = match StepBackStage::of(stage.name())? {
            StepBackStage::Abstraction => take_principle(solving, stage, &done),
            StepBackStage::ApproachSelection => take_solution(solving, stage, &done),
            StepBackStage::SolutionVerification => take_verification(solving, stage, &done),
            StepBackStage::ProblemReception
            | StepBackStage::PrincipleIdentification
            | StepBackStage::SpecificApplication
            | StepBackStage::StepByStepSolution
            | StepBackStage::FinalResponse => done.draft_at(stage),
        };

        solving.think(thought)?;
        Ok(done.next_of(stage))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }
}

fn ask_for_principle(turn: &StageTurn<'_>) -> StageWork {
    let stages = [
        StepBackStage::Abstraction,
        StepBackStage::PrincipleIdentification,
    ];

    StageWork::Ask(ask_for_stages(turn, &stages).with_fields_of::<Principle>())
}

fn ask_for_solution(turn: &StageTurn<'_>) -> StageWork {
    let stages = [
        StepBackStage::ApproachSelection,
        StepBackStage::SpecificApplication,
        StepBackStage::StepByStepSolution,
    ];

    let question = ask_for_stages(turn, &stages).with_fields_of::<Solution>();
    StageWork::Ask(with_answer(turn, question))
}

/// Returns one question with the prompts of several stages.
fn ask_for_stages(turn: &StageTurn<'_>, stages: &[StepBackStage]) -> Ask {
    let in_table = |stage: &StepBackStage| turn.strategy.stage(stage.name());
    let prompts: Vec<&str> = stages
        .iter()
        .filter_map(in_table)
        .map(Stage::prompt)
        .collect();

    ask(turn, prompts.join(" "))
}

fn say_note(solving: &Solving, note: &str) -> StageWork {
    StageWork::say(noted(solving, note).unwrap_or_default())
}

fn take_principle(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(read) = done.value::<Principle>() else {
        return done.draft_at(stage);
    };

    solving.set_note(PRINCIPLE, read.principle);
    ThoughtDraft::at(stage.name(), below(&read.thought, &read.question))
}

fn take_solution(solving: &mut Solving, stage: &Stage, done: &Done) -> ThoughtDraft {
    let Some(read) = done.value::<Solution>() else {
        return done.draft_at(stage);
    };

    solving.set_note(APPLICATION, read.application);
    solving.set_note(SOLUTION, read.solution);
    keep_answer(solving, &read.answer);

    ThoughtDraft::at(stage.name(), below(&read.thought, &read.approach))
}

/// Returns the thought and a text below it.
fn below(thought: &str, text: &str) -> String {
    format!("{thought}\n{text}").trim().to_owned()
}
