use cogwork_tools::Tools;
use cogwork_typed::ask::Limit;

use super::{Answer, EndReason, Solve, SolveError};
use crate::Strategy;
use crate::session::SessionError;

/// A way to solve problems: a strategy, and the function that works through its stages.
///
/// The function asks the model and calls tools through its context, a [`Solve`], and adds a thought
/// in each stage. It looks like a function that waits for each reply, but it never waits: a call
/// whose outcome isn't known yet ends it with a [`Stop`], the [`Solver`](super::Solver) makes the
/// call within its limits, and the function begins again and gets the known outcomes. It must
/// therefore be deterministic: it may decide only by its settings and by what the context returns.
/// In return, a run can be interrupted, saved and continued at each call.
///
/// A [`StrategyName`](crate::StrategyName) is a method with the default settings. A [`Strategy`] is
/// a method, too: it [asks the model in every stage](Strategy#impl-Method-for-Strategy). A pair of a
/// strategy and a function is the shortest way to write one:
///
/// ```
/// use cogwork_llm::ScriptedClient;
/// use cogwork_strategies::{Answer, Ask, Solve, Solver, Stop, Strategies};
///
/// /// Guesses, and has the guess checked by the program.
/// fn guess(cx: &mut Solve) -> Result<Answer, Stop> {
///     cx.think_problem()?;
///
///     loop {
///         let guess = cx.ask("guess", Ask::new("Guess a number."))?.text;
///         cx.think("guess", &guess)?;
///
///         let square = guess.trim().parse().map_or(0, |number: u64| number * number);
///         if square % 100 == 76 {
///             cx.think("answer", &guess)?;
///             return Ok(guess.into());
///         }
///         cx.say(format!("The square is {square}."));
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let tables = Strategies::from_yaml("
/// guessing:
///   description: Guess until it fits.
///   stages:
///     problem: {description: The problem., prompt: State it., next: [guess]}
///     guess: {description: A guess., prompt: Guess., next: [guess, answer]}
///     answer: {description: The answer., prompt: Answer., final: true}
/// ")?;
/// let client = ScriptedClient::new(["14", "24"]);
/// let solver = Solver::new(client, (tables.get("guessing")?.clone(), guess));
/// let solved = solver.solve("Find a number whose square ends in 76.").await?;
/// assert_eq!(solved.answer(), Some("24"));
/// # Ok(())
/// # }
/// ```
pub trait Method: Send + Sync {
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

    /// Solves the problem of the context, and returns the answer.
    ///
    /// # Errors
    ///
    /// Returns the [`Stop`] of the context, or one that the method [creates](Stop::give_up).
    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop>;
}

impl<F> Method for (Strategy, F)
where
    F: Fn(&mut Solve) -> Result<Answer, Stop> + Send + Sync,
{
    fn strategy(&self) -> Strategy {
        self.0.clone()
    }

    fn solve(&self, cx: &mut Solve) -> Result<Answer, Stop> {
        (self.1)(cx)
    }
}

impl<M: Method + 'static> From<M> for Box<dyn Method> {
    fn from(method: M) -> Self {
        Box::new(method)
    }
}

/// The reason why a [`Method`] stops without an answer. A method returns the stops of its context,
/// with `?`.
#[derive(Debug)]
pub struct Stop(pub(super) Reason);

#[derive(Debug)]
pub(super) enum Reason {
    /// A call has no outcome yet.
    Parked,
    /// A limit doesn't allow the next thought.
    Limit(Limit),
    Over(EndReason),
    Failed(SolveError),
}

impl Stop {
    /// Ends the run for this reason. The result is the best answer so far.
    pub fn give_up(why: impl Into<String>) -> Self {
        EndReason::GaveUp { why: why.into() }.into()
    }

    /// Fails the run, because of a mistake in the program or its settings.
    pub fn fail(message: impl Into<String>) -> Self {
        Self(Reason::Failed(SolveError::method(message)))
    }
}

impl From<EndReason> for Stop {
    fn from(reason: EndReason) -> Self {
        Self(Reason::Over(reason))
    }
}

impl From<SessionError> for Stop {
    /// A session that is full ends the run. Any other refusal fails it.
    fn from(error: SessionError) -> Self {
        match error {
            SessionError::Full(limit) => EndReason::SessionFull { limit }.into(),
            refused => Self::fail(refused.to_string()),
        }
    }
}
