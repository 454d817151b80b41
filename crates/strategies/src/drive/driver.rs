use cogwork_plan::Plan;
use cogwork_tools::Tools;

use super::answer::{answer_text, no_answer_at};
use super::{Answer, Done, Next, SolveError, Solving, StageTurn, StageWork};
use crate::{Parameter, Stage, Strategy, Thought};

/// Drives a strategy: decides what is done in each stage, and which stage comes next.
///
/// A driver only makes decisions. [`work`](Self::work) returns the work to do, a
/// [`Solver`](super::Solver) does it within its budget, and [`take`](Self::take) turns the result
/// into thoughts. A driver can therefore be tested without a model, and a resumed run makes the
/// same decisions again.
///
/// Every method except [`strategy`](Self::strategy) has a default implementation. With the
/// defaults, the model receives the prompt of each stage, fills in the parameters of the stage, and
/// chooses the next stage if several may follow. A [`Strategy`] is a driver that uses these
/// defaults, and a [`StrategyName`](crate::StrategyName) converts to the driver of that strategy.
///
/// ```
/// use cogwork_llm::{LlmError, ScriptedClient};
/// use cogwork_strategies::{Solver, Strategies};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mine = Strategies::from_yaml("
/// two_looks:
///   description: Look twice.
///   stages:
///     problem: {description: The problem., prompt: State the problem., next: [first_look]}
///     first_look: {description: A guess., prompt: Guess., next: [answer]}
///     answer: {description: The answer., prompt: Look again and answer., final: true}
/// ")?;
/// let client = ScriptedClient::new(["About 50.", "51"]);
/// let solved = Solver::new(client, mine.get("two_looks")?.clone()).solve("What is 17 * 3?").await?;
/// assert_eq!(solved.answer(), Some("51"));
/// # Ok(())
/// # }
/// ```
pub trait Driver: Send + Sync {
    /// Returns the strategy.
    fn strategy(&self) -> Strategy;

    /// Returns the system message that precedes the problem.
    ///
    /// If `native_tools` is `true`, the client sends the tools of a
    /// [question](super::Ask::with_tools) to the model, so they don't have to be described here.
    ///
    /// # Default
    ///
    /// Explains that the model is asked stage by stage, and includes the description of the
    /// strategy.
    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        let _ = (tools, native_tools);
        format!(
            "You solve a problem in small stages. {}\n\
             Each message asks for one stage. Do what it asks and nothing else.",
            self.strategy().description()
        )
    }

    /// Returns the work to do in the stage of this turn.
    ///
    /// # Default
    ///
    /// In the start stage, uses the problem as the thought without asking the model, if the stage
    /// has no required parameters and only one stage may follow. Otherwise, returns
    /// [`StageTurn::ask`].
    ///
    /// # Errors
    ///
    /// Returns an error if the turn can't be taken, in which case the run fails.
    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let parameters = turn.stage.parameters();
        let takes_problem =
            !parameters.values().any(Parameter::is_required) && turn.stage.next_names().len() < 2;

        if turn.is_start() && takes_problem {
            return Ok(StageWork::say(turn.solving.problem()));
        }
        Ok(StageWork::Ask(turn.ask()))
    }

    /// Adds one or more thoughts for the work that was done, and returns where the run continues.
    ///
    /// # Default
    ///
    /// Adds one thought with the text and the fields to the current branch. The next stage is the
    /// one that the model chose, or the only one that may follow.
    ///
    /// # Errors
    ///
    /// Returns an error if the session refuses a thought, in which case the run fails.
    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        solving.think(done.draft_at(stage))?;
        Ok(next)
    }

    /// Returns the best answer so far.
    ///
    /// # Default
    ///
    /// Finds the last thought on the current branch that is in a final stage or in a stage that is
    /// followed only by final stages. The answer is the text of that thought, or its parameters if
    /// it has no text. The answer has no confidence. A refusal, or a text such as `N/A`, isn't an
    /// answer; [`no_answer`](cogwork_typed::ask::no_answer) defines what counts as one.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let strategy = self.strategy();
        let session = solving.session();
        let ends = |stage: &Stage| strategy.next(stage).all(Stage::is_final);

        // If the table has two stages, the start is followed only by the final one.
        let problem = solving.problem();
        let mut path = solving.path().filter(|thought| thought.text() != problem);
        let thought = path.find(|thought| ends(session.stage_of(thought)))?;

        let text = answer_text(thought.text(), thought.parameters());
        let stage = session.stage_of(thought);
        let is_answer = no_answer_at(stage, &text, solving.problem()).is_none();
        is_answer.then(|| Answer::new(text))
    }

    /// Returns the last question, which is asked when the budget allows no other call, or `None` if
    /// there already is an answer. The reply has the answer in the field `answer`.
    ///
    /// # Default
    ///
    /// Returns [`Ask::conclusion`](super::Ask::conclusion), unless there is an
    /// [answer](Self::answer).
    fn conclude(&self, solving: &Solving) -> Option<super::Ask> {
        let is_open = self.answer(solving).is_none();
        is_open.then(|| super::Ask::conclusion(solving))
    }

    /// Returns the value that is compared to detect whether the run makes progress. The run stops
    /// once the same values repeat.
    ///
    /// If this returns `None`, the thought is ignored.
    ///
    /// # Default
    ///
    /// Returns the text and the parameters.
    fn progress(&self, thought: &Thought) -> Option<String> {
        let parameters: Vec<_> = thought
            .parameters()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        Some(format!("{} {}", thought.text(), parameters.join(" ")))
    }

    /// Returns the plan, if the strategy has one.
    ///
    /// # Default
    ///
    /// Returns `None`.
    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let _ = solving;
        None
    }
}

/// Asks the model in every stage.
impl Driver for Strategy {
    fn strategy(&self) -> Strategy {
        self.clone()
    }
}

impl<D: Driver + 'static> From<D> for Box<dyn Driver> {
    fn from(driver: D) -> Self {
        Box::new(driver)
    }
}
