use std::collections::BTreeSet;

use cogwork_plan::Plan;
use cogwork_tools::Tools;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ask, Done, Next, SolveError, Solving, StageReply, StageWork};
use crate::session::REVISES;
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

/// One pass through a stage, as a [`Driver`] sees it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StageTurn<'a> {
    /// The run so far.
    pub solving: &'a Solving,
    /// The stage that is to be thought in.
    pub stage: &'a Stage,
    /// Its strategy.
    pub strategy: &'a Strategy,
    /// The tools there are.
    pub tools: &'a Tools,
    /// Whether the client takes tools itself. Else the model is told of them in text.
    pub native_tools: bool,
}

impl StageTurn<'_> {
    /// Whether this is the first thought of the run.
    pub fn is_start(&self) -> bool {
        self.solving.session().thoughts().is_empty()
    }

    /// The question that a stage asks by itself: its prompt, its parameters, and which stage is next.
    pub fn ask(&self) -> Ask {
        self.ask_for(self.stage.prompt())
    }

    /// The same with another text in the place of the prompt.
    pub fn ask_for(&self, instruction: impl Into<String>) -> Ask {
        let parameters = self.stage.parameters().iter();
        Ask::new(self.solving.transcript().clone(), instruction)
            .with_fields(parameters.map(|(name, parameter)| (name.clone(), parameter.clone())))
            .with_next(self.strategy.next(self.stage))
            .with_check(self.names_thoughts())
    }

    /// Whether the thoughts that a reply names are there: the session would refuse it else.
    fn names_thoughts(&self) -> impl Fn(&StageReply) -> Result<(), String> + Send + Sync + 'static {
        let kinds = self.stage.parameters().clone();
        let thoughts = self.solving.session().thoughts().len();
        let path: BTreeSet<u32> = match kinds.contains_key(REVISES) {
            true => self
                .solving
                .path()
                .map(|thought| thought.id().get())
                .collect(),
            false => BTreeSet::new(),
        };

        move |reply| {
            for (name, value) in &reply.fields {
                let mut named = Vec::new();
                kinds
                    .get(name)
                    .into_iter()
                    .for_each(|parameter| parameter.kind().thoughts(value, &mut named));
                for number in named {
                    if usize::try_from(number)
                        .map_or(true, |number| number == 0 || number > thoughts)
                    {
                        return Err(format!(
                            "`{name}` is {number}, expected a number from 1 to {thoughts}"
                        ));
                    } else if name == REVISES && !path.contains(&number) {
                        return Err(format!(
                            "`{name}` is {number}, expected a thought of the branch"
                        ));
                    }
                }
            }

            Ok(())
        }
    }
}

/// An answer to the problem.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Answer {
    /// The answer.
    pub text: String,
    /// How sure it is, from 0 to 1, in strategies that can tell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
}

impl Answer {
    /// An answer without a confidence.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            confidence: None,
        }
    }

    /// With a confidence from 0 to 1; what is outside is brought to the nearer end.
    #[must_use]
    pub fn with_confidence(mut self, confidence: f64) -> Self {
        self.confidence =
            Some(confidence.clamp(0.0, 1.0)).filter(|confidence| !confidence.is_nan());
        self
    }
}
