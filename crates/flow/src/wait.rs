use std::fmt;
use std::time::{Duration, SystemTime};

use cogwork_text::{Name, OneLine};
use serde::de::DeserializeOwned;

use crate::context::Here;
use crate::journal::{Awaited, OutcomeProblemKind, Waited, decode};
use crate::visit::{Failure, Visit, Visited};
use crate::wiring::Inside;
use crate::{Action, Answer, BoxError, Phase, StepName};

/// A place where a run waits for an event from outside, such as the word of a person.
///
/// When the run comes here and the event has not come, it pauses: it returns
/// [`Stepped::Paused`](crate::Stepped), and nothing of it runs or is kept in memory but what the
/// program holds. [`Run::deliver`](crate::Run::deliver) brings the answer, before or after the run
/// comes here, and the run goes on when it is stepped again. Each answer is taken once, the oldest
/// first. With a journal on disk the program may end in between.
///
/// Inside items and branches a wait needs a journal: the others go on to their ends or pauses, and
/// only a record keeps what they brought until the run comes again.
///
/// ```
/// use std::time::Duration;
/// use cogwork_flow::{Action, Flow, Stepped, Wait};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// struct Refund { amount: u32, granted: bool }
///
/// let approval = Wait::for_event("approval", |refund: &mut Refund, granted: bool| refund.granted = granted)
///     .why(|refund| format!("a refund of {} needs a person", refund.amount))
///     .within(Duration::from_secs(3600));
/// let flow = Flow::builder("refund")
///     .start("approval")
///     .wait("approval", approval)
///     .end("approval", Action::DEFAULT)
///     .end("approval", Wait::<Refund>::TIMED_OUT)
///     .build()?;
///
/// let mut refund = Refund { amount: 900, granted: false };
/// let mut run = flow.begin();
/// if let Stepped::Paused(paused) = run.advance(&mut refund).await? {
///     assert_eq!((paused.event.as_str(), paused.why.as_str()), ("approval", "a refund of 900 needs a person"));
///     run.deliver("approval", &true).await?;
/// }
/// assert_eq!(run.finish(&mut refund).await?.action, Action::DEFAULT);
/// assert!(refund.granted);
/// # Ok(())
/// # }
/// ```
pub struct Wait<S> {
    event: String,
    why: Box<dyn Fn(&S) -> String + Send + Sync>,
    within: Option<Duration>,
    accept: fn(&[u8]) -> Result<(), BoxError>,
    use_answer: Box<UseAnswer<S>>,
    actions: Vec<Action>,
}

type UseAnswer<S> = dyn Fn(&mut S, &[u8]) -> Result<Action, BoxError> + Send + Sync;

impl<S> Wait<S> {
    /// The label to leave by when no answer came in time: `timed out`.
    pub const TIMED_OUT: Action = Action::from_static("timed out");

    /// Waits for an event of this name. `use_answer` puts its answer into the state, and answers
    /// nothing, an action, or a result of one of the two.
    pub fn for_event<T, A>(
        event: impl Into<String>,
        use_answer: impl Fn(&mut S, T) -> A + Send + Sync + 'static,
    ) -> Self
    where
        T: DeserializeOwned + 'static,
        A: Answer,
    {
        Self {
            event: event.into(),
            why: Box::new(|_| String::new()),
            within: None,
            accept: |answer| match decode::<T>(answer, OutcomeProblemKind::Unreadable) {
                Ok(_) => Ok(()),
                Err(problem) => Err(UnreadableAnswer(problem.detail().to_owned()).into()),
            },
            use_answer: Box::new(move |state, answer| {
                use_answer(state, decode(answer, OutcomeProblemKind::Unreadable)?)
                    .into_result()
                    .map_err(Into::into)
            }),
            actions: vec![Action::DEFAULT],
        }
    }

    /// Says what the run waits for, to whoever is to answer.
    ///
    /// # Default
    ///
    /// Nothing but the event's name.
    #[must_use]
    pub fn why(mut self, why: impl Fn(&S) -> String + Send + Sync + 'static) -> Self {
        self.why = Box::new(why);
        self
    }

    /// How long to wait, from when the run first comes here. Then it leaves by
    /// [`TIMED_OUT`](Wait::TIMED_OUT) as soon as it is stepped again, unless an answer is there by then.
    /// If the clock was set back in the meantime, the run waits for no longer than `limit` from when it
    /// is taken up.
    ///
    /// # Default
    ///
    /// For ever.
    #[must_use]
    pub fn within(mut self, limit: Duration) -> Self {
        self.within = Some(limit);
        self
    }

    /// Every label the closure may answer. Unset: [`Action::DEFAULT`] alone.
    #[must_use]
    pub fn with_actions<L: Into<Action>>(mut self, actions: impl IntoIterator<Item = L>) -> Self {
        self.actions = actions.into_iter().map(Into::into).collect();
        self
    }

    pub(crate) fn inside(&self) -> Inside {
        Inside::Wait { event: self.event.clone() }
    }

    pub(crate) fn actions(&self) -> Vec<Action> {
        let timed_out = self.within.map(|_| Self::TIMED_OUT);
        self.actions.iter().cloned().chain(timed_out).collect()
    }
}

/// Why a step cannot read an answer: no fault of the journal's that brings it.
#[derive(Debug, thiserror::Error)]
#[error("the answer cannot be read: {0}")]
struct UnreadableAnswer(String);

impl<S: Send> Visit<S> for Wait<S> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let why = (self.why)(state);
            let (step, journal) = here.recorded("a wait")?;
            let awaited =
                Awaited { event: &self.event, why: &why, within: self.within, accept: &self.accept };
            match journal.wait(step, awaited).await {
                Ok(Waited::Answered(answer)) => (self.use_answer)(state, &answer)
                    .map_err(|error| Failure::node(Phase::Post, error).into()),
                Ok(Waited::TimedOut) => Ok(Self::TIMED_OUT),
                Ok(Waited::Pending { until }) => {
                    let step = StepName::clone(step);
                    Err(Failure::Paused(Box::new(Paused {
                        step,
                        event: self.event.clone(),
                        why,
                        until,
                        also: Vec::new(),
                    }))
                    .into())
                }
                Err(error) if error.is::<UnreadableAnswer>() => {
                    let problem = format!("the event `{}`: {error}", Name(&self.event));
                    Err(Failure::node(Phase::Exec, problem).into())
                }
                Err(error) => Err(Failure::Journal(error).into()),
            }
        })
    }
}

impl<S> fmt::Debug for Wait<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait")
            .field("event", &self.event)
            .field("within", &self.within)
            .finish_non_exhaustive()
    }
}

/// Where a run pauses, and for what.
///
/// `Display` writes it as a line for people.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Paused {
    /// The step that waits; where several items or branches wait, that of the first of them.
    pub step: StepName,
    /// The name of the event.
    pub event: String,
    /// What [`Wait::why`] says.
    pub why: String,
    /// When it is too late: step the run again then, and it leaves by [`Wait::TIMED_OUT`].
    pub until: Option<SystemTime>,
    /// What else the run waits for, in other items and branches, in their order.
    pub also: Vec<Paused>,
}

impl Paused {
    /// The earliest time limit of all that the run waits for.
    pub fn earliest_limit(&self) -> Option<SystemTime> {
        std::iter::once(self).chain(&self.also).filter_map(|paused| paused.until).min()
    }

    pub(crate) fn join(&mut self, others: impl IntoIterator<Item = Self>) {
        for mut other in others {
            let also = std::mem::take(&mut other.also);
            self.also.push(other);
            self.also.extend(also);
        }
    }
}

impl fmt::Display for Paused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "paused at {} for the event `{}`", self.step, Name(&self.event))?;
        if !self.why.is_empty() {
            write!(f, ": {}", OneLine::new(&self.why))?;
        }
        match self.also.len() {
            0 => Ok(()),
            1 => f.write_str(", and for one more"),
            more => write!(f, ", and for {more} more"),
        }
    }
}

/// A place where a run sleeps.
pub(crate) struct Sleep<F>(pub(crate) F);

impl<S: Send, F: Fn(&S) -> Duration + Send + Sync> Visit<S> for Sleep<F> {
    fn visit<'a>(&'a self, state: &'a mut S, _: &'a [usize], here: Here<'a>) -> Visited<'a> {
        Box::pin(async move {
            let duration = (self.0)(state);
            let (step, journal) = here.recorded("a sleep")?;
            journal.sleep(step, duration).await.map_err(Failure::Journal)?;
            Ok(Action::DEFAULT)
        })
    }
}
