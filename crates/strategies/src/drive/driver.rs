use cogwork_plan::Plan;
use cogwork_tools::Tools;
use serde_json::Value;

use super::{Answer, Done, Next, SolveError, Solving, StageTurn, StageWork};
use crate::{Parameter, Stage, Strategy, Thought};

/// How a strategy is driven: what is done in each of its stages, and which stage comes next.
///
/// A driver decides and does not wait: [`work`](Self::work) says what is to be done, a
/// [`Solver`](super::Solver) does it, within its budget, and [`take`](Self::take) makes thoughts of what
/// came. So a driver is tested without a model, and a run that is taken up again decides as before.
///
/// All but the table has a default, which asks the model in every stage for its prompt and its parameters,
/// and lets it choose where several stages may follow. A [`Strategy`] is such a driver as it is, and so is
/// a [`StrategyName`](crate::StrategyName) the one made for it.
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
    /// The table.
    fn strategy(&self) -> Strategy;

    /// What the model is told before the problem. Clients with `native_tools` tell it of the tools themselves
    /// where a question [has some](Ask::with_tools).
    ///
    /// # Default
    ///
    /// That it is asked stage by stage, with the description of the strategy.
    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        let _ = (tools, native_tools);
        format!(
            "You solve a problem in small stages. {}\n\
             Each message asks for one stage. Do what it asks and nothing else.",
            self.strategy().description()
        )
    }

    /// What is to be done in the stage of this turn.
    ///
    /// # Default
    ///
    /// In the start stage, if it needs no parameter and one stage alone may follow: take the problem as it
    /// is. Elsewhere: [`StageTurn::ask`].
    ///
    /// # Errors
    ///
    /// When the turn cannot be made; the run then fails.
    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        let is_plain = || {
            let needs = turn.stage.parameters().values().any(Parameter::is_required);
            !needs && turn.stage.next_names().len() < 2
        };
        Ok(match turn.is_start() && is_plain() {
            true => StageWork::say(turn.solving.problem()),
            false => StageWork::Ask(turn.ask()),
        })
    }

    /// Makes a thought, or several, of what was done, and says where to go.
    ///
    /// # Default
    ///
    /// One thought of text and fields on the current branch; next is the stage that the model chose, or the
    /// only one there is.
    ///
    /// # Errors
    ///
    /// When the session refuses a thought; the run then fails.
    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        let next = done.next_of(stage);
        solving.think(done.draft_at(stage))?;
        Ok(next)
    }

    /// The best answer that the thoughts so far hold.
    ///
    /// # Default
    ///
    /// The newest thought of the current branch that is in a final stage, or in one from which only final
    /// stages follow: its text, or its parameters where it has none; without a confidence.
    fn answer(&self, solving: &Solving) -> Option<Answer> {
        let strategy = self.strategy();
        let ends = |stage: &Stage| strategy.next(stage).all(Stage::is_final);
        let thought = solving.path().find(|thought| ends(thought.stage()))?;
        let shown = |value: &Value| {
            value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned)
        };

        let named: Vec<_> = thought.parameters().collect();
        let text = match (thought.text(), named.as_slice()) {
            ("", [(_, only)]) => shown(only),
            ("", several) => several
                .iter()
                .map(|(name, value)| format!("{name}: {}", shown(value)))
                .collect::<Vec<_>>()
                .join("\n"),
            (text, _) => text.to_owned(),
        };

        Some(Answer::new(text)).filter(|answer| !answer.text.is_empty())
    }

    /// What of a thought shows whether the run gets on: when the same comes again and again, it does not.
    /// `None` where a thought shows nothing either way.
    ///
    /// # Default
    ///
    /// Its text and its parameters.
    fn progress(&self, thought: &Thought) -> Option<String> {
        let parameters: Vec<_> = thought
            .parameters()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        Some(format!("{} {}", thought.text(), parameters.join(" ")))
    }

    /// The plan, in strategies that have one.
    ///
    /// # Default
    ///
    /// None.
    fn plan(&self, solving: &Solving) -> Option<Plan> {
        let _ = solving;
        None
    }
}

/// A table by itself: every stage is asked for.
impl Driver for Strategy {
    fn strategy(&self) -> Strategy {
        self.clone()
    }
}

impl<D: Driver + ?Sized> Driver for Box<D> {
    fn strategy(&self) -> Strategy {
        (**self).strategy()
    }

    fn instructions(&self, tools: &Tools, native_tools: bool) -> String {
        (**self).instructions(tools, native_tools)
    }

    fn work(&self, turn: &StageTurn<'_>) -> Result<StageWork, SolveError> {
        (**self).work(turn)
    }

    fn take(&self, solving: &mut Solving, stage: &Stage, done: Done) -> Result<Next, SolveError> {
        (**self).take(solving, stage, done)
    }

    fn answer(&self, solving: &Solving) -> Option<Answer> {
        (**self).answer(solving)
    }

    fn progress(&self, thought: &Thought) -> Option<String> {
        (**self).progress(thought)
    }

    fn plan(&self, solving: &Solving) -> Option<Plan> {
        (**self).plan(solving)
    }
}
