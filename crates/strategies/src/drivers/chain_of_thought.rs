use cogwork_plan::{Plan, Status, Step};
use schemars::JsonSchema;
use serde::Deserialize;

use super::answering::{
    answered, ask, draft, keep_answer, say_answer, take_verification, verify, with_answer,
};
use super::stage_names::{StageName, stage_names};
use crate::{
    Answer, Done, Driver, Next, SolveError, Solving, Stage, StageReply, StageTurn, StageWork,
    Strategy, StrategyName, Thought, ThoughtDraft, ThoughtKind,
};

/// Divides the problem into steps and works through them (Wei et al. 2022).
///
/// The model is called three times: for the steps, for their results with the answer, and for a
/// check that may correct the answer. The steps with their results are the [plan](Driver::plan) of
/// the trace. If the check corrected the answer, the last step needs verification.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `step_decomposition` | the model; each step becomes a separate thought |
/// | `sequential_reasoning` | the model; each result becomes a separate thought |
/// | `solution_formulation` | the driver: the answer |
/// | `answer_verification` | the model, unless [switched off](Self::with_verification) |
/// | `final_response` | the driver: the answer, corrected if it was wrong |
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{ChainOfThoughtDriver, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "steps:\n- Multiply the tens.\n- Multiply the ones.\n- Add.",
///     "thought: 17 is 10 and 7.\nresults:\n- 30\n- 21\n- 51\nanswer: 51",
/// ]);
/// let driver = ChainOfThoughtDriver::new().with_verification(false);
/// let solved = Solver::new(client, driver).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// assert_eq!(
///     solved.trace().plan().ok_or("no plan")?.outline().to_string(),
///     "- [Done] Multiply the tens.: 30\n- [Done] Multiply the ones.: 21\n- [Done] Add.: 51",
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainOfThoughtDriver {
    verification: bool,
    max_steps: usize,
}

impl Default for ChainOfThoughtDriver {
    fn default() -> Self {
        Self {
            verification: true,
            max_steps: 20,
        }
    }
}

impl ChainOfThoughtDriver {
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

    /// Sets the maximum number of steps, from 1 to 100. If the model lists more, it is asked again.
    /// The default is 20.
    #[must_use]
    pub fn with_max_steps(mut self, steps: usize) -> Self {
        self.max_steps = steps.clamp(1, 100);
        self
    }
}

stage_names! {
    /// The stages of `chain_of_thought`.
    enum ChainOfThoughtStage for ChainOfThought {
        ProblemReception = "problem_reception",
        StepDecomposition = "step_decomposition",
        SequentialReasoning = "sequential_reasoning",
        SolutionFormulation = "solution_formulation",
        AnswerVerification = "answer_verification",
        FinalResponse = "final_response",
    }
}

const STEPS: &str = "steps";
const RESULTS: &str = "results";

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

impl Driver for ChainOfThoughtDriver {
    fn strategy(&self) -> Strategy {
        StrategyName::ChainOfThought.strategy()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        Ok(match ChainOfThoughtStage::of(turn.stage.name())? {
            ChainOfThoughtStage::ProblemReception => StageWork::say(turn.solving.problem()),
            ChainOfThoughtStage::StepDecomposition => self.ask_for_steps(turn),
            ChainOfThoughtStage::SequentialReasoning => ask_for_results(turn),
            ChainOfThoughtStage::AnswerVerification => verify(turn, self.verification),
            ChainOfThoughtStage::SolutionFormulation | ChainOfThoughtStage::FinalResponse => {
                say_answer(turn.solving)
            }
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let thoughts = match ChainOfThoughtStage::of(stage.name())? {
            ChainOfThoughtStage::StepDecomposition => take_steps(stage, &done),
            ChainOfThoughtStage::SequentialReasoning => take_results(solving, stage, &done),
            ChainOfThoughtStage::AnswerVerification => {
                vec![take_verification(solving, stage, &done)]
            }
            ChainOfThoughtStage::ProblemReception
            | ChainOfThoughtStage::SolutionFormulation
            | ChainOfThoughtStage::FinalResponse => vec![done.draft_at(stage)],
        };

        for thought in thoughts {
            solving.think(thought)?;
        }

        Ok(done.next_of(stage))
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving)
    }

    /// Returns `None`: the table has no cycle, and the results of several steps may be equal.
    fn progress(&self, _: &Thought) -> Option<String> {
        None
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let steps = parts_of(solving, ChainOfThoughtStage::StepDecomposition);
        let results = parts_of(solving, ChainOfThoughtStage::SequentialReasoning);
        let has_results = last_at(solving, ChainOfThoughtStage::SequentialReasoning).is_some();

        let mut results = results.into_iter();
        let planned = steps.into_iter().map(|step| match results.next() {
            Some(result) => Step::done(step, result),
            None if has_results => Step::verification_needed(step, "the model gave no result"),
            None => Step::pending(step),
        });

        let mut plan: Plan = planned.collect();

        if is_corrected(solving)
            && let Some(last) = plan.steps_mut().last_mut()
        {
            // It is unknown which step is wrong, but the answer came from the last one.
            last.status = Status::VerificationNeeded;
            last.mark = Some("the check gave a different answer".to_owned());
        }

        Some(plan).filter(|plan| !plan.is_empty())
    }
}

impl ChainOfThoughtDriver {
    fn ask_for_steps(&self, turn: &StageTurn<'_>) -> StageWork {
        let most = self.max_steps;
        let check = move |reply: &StageReply| {
            let steps = reply.value().map_or(0, |read: Steps| read.steps.len());
            if steps > most {
                return Err(format!(
                    "`{STEPS}` has {steps} items, expected at most {most}"
                ));
            }

            Ok(())
        };

        let question = ask(turn, turn.stage.prompt());
        StageWork::Ask(
            question
                .with_fields_of::<Steps>()
                .narrowed(STEPS, |key| key.offering_items(1, most))
                .with_check(check),
        )
    }
}

fn ask_for_results(turn: &StageTurn<'_>) -> StageWork {
    let steps = parts_of(turn.solving, ChainOfThoughtStage::StepDecomposition).len();

    let question = ask(turn, turn.stage.prompt())
        .with_fields_of::<Results>()
        .narrowed(RESULTS, |key| key.offering_items(1, steps));
    StageWork::Ask(with_answer(turn, question))
}

fn take_steps(stage: &Stage, done: &Done) -> Vec<ThoughtDraft> {
    let Some(Steps { thought, steps }) = done.value() else {
        return vec![done.draft_at(stage)];
    };

    let opening = draft(stage, &thought, "The steps:");
    let steps = steps.into_iter().map(ThoughtDraft::here);
    std::iter::once(opening).chain(steps).collect()
}

fn take_results(solving: &mut Solving, stage: &Stage, done: &Done) -> Vec<ThoughtDraft> {
    let Some(read) = done.value::<Results>() else {
        return vec![done.draft_at(stage)];
    };

    keep_answer(solving, &read.answer);

    let steps = parts_of(solving, ChainOfThoughtStage::StepDecomposition).len();
    let opening = draft(stage, &read.thought, "The results:");
    let results = read.results.into_iter().take(steps);
    let results = results.map(ThoughtDraft::here);

    std::iter::once(opening).chain(results).collect()
}

fn last_at(solving: &Solving, stage: ChainOfThoughtStage) -> Option<&Thought> {
    solving.last_at(stage.name())
}

/// Returns the steps or results of a stage, in order.
fn parts_of(solving: &Solving, stage: ChainOfThoughtStage) -> Vec<&str> {
    let is_part =
        |thought: &&Thought| stage.is_stage_of(thought) && thought.kind() == ThoughtKind::Stay;

    let mut parts: Vec<&str> = solving.path().filter(is_part).map(Thought::text).collect();
    parts.reverse();
    parts
}

/// Returns whether the check changed the answer.
fn is_corrected(solving: &Solving) -> bool {
    let Some(formulated) = last_at(solving, ChainOfThoughtStage::SolutionFormulation) else {
        return false;
    };

    answered(solving).is_some_and(|answer| answer.text != formulated.text())
}
