mod names;
mod questions;
mod thoughts;
mod ways;

use serde_json::Value;

use self::names::{DECISION, HYPOTHESIS, LinearStage, NEEDED, VERIFICATION};
use self::thoughts::{
    take_adjustment, take_branch, take_decision, take_hypothesis, take_judgement, take_outline,
    take_solution, take_worded,
};
use self::ways::Way;
use super::answering::{
    HOLDS, answer_if_any, answered, conclude_unless, noted, say_answer, says_yes, take_as_it_is,
};
use super::stage_names::StageName;
use crate::{
    Answer, Ask, Done, Driver, Next, SolveError, Solving, Stage, StageTurn, StageWork, Strategy,
    StrategyName, Thought,
};

/// Thinks one thought after the other, with evaluations, revisions and branches, and ends with a
/// verified hypothesis.
///
/// Every question includes the number of the next thought, so that the model can refer to earlier
/// ones. A revision replaces a thought in the session. A branch is a branch of the session, on
/// which the run continues. If the model names a thought that isn't on the path, or uses the name
/// of an existing branch, it is asked again. A hypothesis that doesn't hold leads back to
/// `continuation_decision`.
///
/// | stage | written by |
/// |---|---|
/// | `problem_reception` | the driver: the problem, unchanged |
/// | `initial_thought_planning` | the model: the approach, and how many thoughts it will take |
/// | `thought_generation` | the model |
/// | `thought_evaluation` | the model: an evaluation, and how to continue |
/// | `thought_revision` | the model |
/// | `continuation_decision` | the driver: the choice in the evaluation; otherwise, the model |
/// | `thought_adjustment` | the driver: how many more thoughts the model expects |
/// | `branch_creation` | the model |
/// | `hypothesis_generation`, `hypothesis_verification` | the model |
/// | `solution_finalization` | the model: the solution, with the answer |
/// | `final_response` | the driver: the answer |
///
/// A branch starts at the thought that the model named. If the table doesn't allow
/// `thought_generation` from there, it starts at the next thought from which that is allowed, so
/// that the evaluation of the named thought is kept. The best answer so far is the last hypothesis
/// on the branch, even if it didn't hold.
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Linear, Solver};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let client = ScriptedClient::new([
///     "thought: Tens and ones.\nthoughts_needed: 4",
///     "30 and 21 make 51.",
///     "thought: Right.\nnext: hypothesis_generation",
///     "hypothesis: 51",
///     "verification: 51 / 3 = 17.\nholds: yes",
///     "thought: 17 * 3 = 30 + 21 = 51.\nanswer: 51",
/// ]);
/// let solved = Solver::new(client, Linear::new()).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Linear {
    max_thoughts: usize,
}

/// The maximum number of branches.
const MAX_BRANCHES: usize = 10;

impl Default for Linear {
    fn default() -> Self {
        Self { max_thoughts: 30 }
    }
}

impl Linear {
    /// Creates a driver with the default settings.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the maximum number of generated thoughts and hypotheses, which is at least 1. Once it
    /// is reached, the model is asked for a last hypothesis, and the run gives up if that
    /// hypothesis doesn't hold. The default is 30.
    #[must_use]
    pub fn with_max_thoughts(mut self, thoughts: usize) -> Self {
        self.max_thoughts = thoughts.max(1);
        self
    }
}

impl Driver for Linear {
    fn strategy(&self) -> Strategy {
        StrategyName::Linear.strategy()
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let solving = turn.solving;

        Ok(match LinearStage::of(turn.stage.name())? {
            LinearStage::ProblemReception => StageWork::say(solving.problem()),
            LinearStage::InitialThoughtPlanning => StageWork::Ask(questions::outline(turn)),
            LinearStage::ThoughtGeneration => StageWork::Ask(questions::thought(turn)),
            LinearStage::ThoughtEvaluation => StageWork::Ask(self.judgement(turn)),
            LinearStage::ThoughtRevision => StageWork::Ask(questions::revision(turn)),
            LinearStage::ContinuationDecision => self.decide(turn),
            LinearStage::ThoughtAdjustment => say_needed(solving),
            LinearStage::BranchCreation => StageWork::Ask(questions::branch(turn)),
            LinearStage::HypothesisGeneration | LinearStage::HypothesisVerification => {
                StageWork::Ask(questions::parameters(turn))
            }
            LinearStage::SolutionFinalization => StageWork::Ask(questions::solution(turn)),
            LinearStage::FinalResponse => say_answer(solving),
        })
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        match LinearStage::of(stage.name())? {
            LinearStage::InitialThoughtPlanning => take_outline(solving, stage, &done),
            LinearStage::ThoughtEvaluation => take_judgement(solving, stage, &done),
            LinearStage::ThoughtRevision => take_worded(solving, stage, &done, "Revised."),
            LinearStage::ContinuationDecision => take_decision(solving, stage, &done),
            LinearStage::ThoughtAdjustment => take_adjustment(solving, stage, &done),
            LinearStage::BranchCreation => take_branch(solving, stage, &done),
            LinearStage::HypothesisGeneration => take_hypothesis(solving, stage, &done),
            LinearStage::HypothesisVerification => self.take_verification(solving, stage, &done),
            LinearStage::SolutionFinalization => take_solution(solving, stage, &done),
            LinearStage::ProblemReception
            | LinearStage::ThoughtGeneration
            | LinearStage::FinalResponse => take_as_it_is(solving, stage, &done),
        }
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        answered(solving).or_else(|| answer_if_any(solving, last_hypothesis(solving)?))
    }

    fn conclude(&self, solving: &Solving) -> Option<Ask> {
        conclude_unless(answered(solving).is_some(), solving)
    }

    /// Returns thoughts, revisions and hypotheses. Evaluations may repeat.
    fn progress(&self, thought: &Thought) -> Option<String> {
        match LinearStage::of(thought.stage()).ok()? {
            LinearStage::ThoughtGeneration | LinearStage::ThoughtRevision => {
                Some(thought.text().to_owned())
            }
            LinearStage::HypothesisGeneration => {
                thought.parameter(HYPOTHESIS).map(Value::to_string)
            }
            _ => None,
        }
    }
}

impl Linear {
    /// Returns whether the maximum number of thoughts is reached.
    fn is_over(&self, solving: &Solving) -> bool {
        generated(solving) >= self.max_thoughts
    }

    /// Returns the options for a decision.
    fn ways(&self, solving: &Solving) -> Vec<Way> {
        if self.is_over(solving) {
            return vec![Way::Conclude];
        }

        if solving.session().branches().len() > MAX_BRANCHES {
            return vec![Way::ThinkMore, Way::Conclude];
        }

        vec![Way::ThinkMore, Way::Branch, Way::Conclude]
    }

    fn judgement(&self, turn: &StageTurn<'_>) -> Ask {
        let mut ways = self.ways(turn.solving);
        ways.push(Way::Revise);
        questions::choice(turn, &ways)
    }

    fn decide(&self, turn: &StageTurn<'_>) -> StageWork {
        if let Some(decision) = noted(turn.solving, DECISION) {
            return StageWork::say(format!("Next: {decision}."));
        }

        let ways = self.ways(turn.solving);
        match ways.as_slice() {
            [only] => StageWork::say(format!("Next: {}.", only.stage().name())),
            several => StageWork::Ask(questions::choice(turn, several)),
        }
    }

    /// Continues with the solution if the hypothesis holds, and otherwise with more thoughts, up to
    /// the maximum.
    fn take_verification(
        &self,
        solving: &mut Solving,
        stage: &Stage,
        done: &Done,
    ) -> Result<Next, SolveError> {
        let Some(reply) = done.reply() else {
            return take_as_it_is(solving, stage, done);
        };

        take_worded(solving, stage, done, reply.field(VERIFICATION))?;

        if says_yes(reply, HOLDS) {
            return Ok(Next::stage(LinearStage::SolutionFinalization.name()));
        }

        if self.is_over(solving) {
            let thoughts = generated(solving);
            return Ok(Next::GiveUp(format!(
                "after {thoughts} thoughts the hypothesis does not hold"
            )));
        }

        Ok(Next::stage(LinearStage::ContinuationDecision.name()))
    }
}

fn say_needed(solving: &Solving) -> StageWork {
    match solving.note(NEEDED).and_then(Value::as_u64) {
        Some(needed) => StageWork::say(format!("About {needed} more thoughts are needed.")),
        None => StageWork::say("More thoughts are needed."),
    }
}

/// Returns the number of generated thoughts and hypotheses.
fn generated(solving: &Solving) -> usize {
    let is_generated = |thought: &&Thought| {
        LinearStage::ThoughtGeneration.is_stage_of(thought)
            || LinearStage::HypothesisGeneration.is_stage_of(thought)
    };
    solving
        .session()
        .thoughts()
        .iter()
        .filter(is_generated)
        .count()
}

fn last_hypothesis(solving: &Solving) -> Option<&str> {
    let thought = solving.last_at(LinearStage::HypothesisGeneration.name())?;
    thought.parameter(HYPOTHESIS)?.as_str()
}
